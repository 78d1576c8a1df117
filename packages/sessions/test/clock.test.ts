import { createSessionTokens, createSessionVerifier } from '../src';

const HOUR_MS = 3_600_000;
const NOW = Date.parse('2026-01-15T09:30:00Z');
const [userId, sessionId] = ['0b0cf7cc-3a5f-4d6c-8f52-2f7a5b0e1c11', '5d1b7d4e-7a44-4c4e-9b0a-0f5a3f2d9e22'];
const tokensAt = (time: number) => createSessionTokens({ secret: 's'.repeat(40), now: () => time });

/** Whether a process with this clock accepts a session of 24 hours from another process with its own clock. */
const isLetIn = async ({ minting, proving }: { minting: number; proving: number }): Promise<boolean> => {
  const expiresAt = minting + 24 * HOUR_MS;
  const token = await tokensAt(minting).mint({ userId, sessionId, expiresAt });
  const row = { ...{ sessionId, userId, revokedAt: null, disabledAt: null }, expiresAt: new Date(expiresAt).toISOString() };
  const verifier = createSessionVerifier({
    ...{ tokens: tokensAt(proving), now: () => proving, findSession: () => Promise.resolve(row) },
  });
  return (await verifier.verify(token)) !== undefined;
}; // prettier-ignore

describe('a clock that is an hour off', () => {
  it.each([
    ['ahead', HOUR_MS],
    ['behind', -HOUR_MS],
  ])('accepts a session that a process %s has just started', async (_, off) => {
    expect(await isLetIn({ minting: NOW + off, proving: NOW })).toBe(true);
    expect(await isLetIn({ minting: NOW, proving: NOW + off })).toBe(true);
  });

  it('of the process that begins a session shifts its end by the same time', async () => {
    expect(await isLetIn({ minting: NOW + HOUR_MS, proving: NOW + 24.9 * HOUR_MS })).toBe(true);
    expect(await isLetIn({ minting: NOW - HOUR_MS, proving: NOW + 22.9 * HOUR_MS })).toBe(true);
    expect(await isLetIn({ minting: NOW - HOUR_MS, proving: NOW + 23.1 * HOUR_MS })).toBe(false);
  });

  it('of the process that verifies a session shifts its end the other way', async () => {
    expect(await isLetIn({ minting: NOW, proving: NOW + 23.1 * HOUR_MS + HOUR_MS })).toBe(false);
    expect(await isLetIn({ minting: NOW, proving: NOW + 24.9 * HOUR_MS - HOUR_MS })).toBe(true);
    expect(await isLetIn({ minting: NOW, proving: NOW + 25.1 * HOUR_MS - HOUR_MS })).toBe(false);
  });
});
