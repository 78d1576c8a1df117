import { createHmac, randomUUID } from 'node:crypto';
import { createSessionTokens, createTickets } from '../src';

const SECRET = 'a secret of the tests, 32 characters at least';
const OTHER = 'another secret of the tests, as long as that one';
const NOW = Date.parse('2026-01-15T09:30:00Z');
let now = NOW;
beforeEach(() => (now = NOW));

const tickets = (secret = SECRET, purpose = 'test', previousSecret?: string) =>
  createTickets({ secret, previousSecret, purpose, lifeSeconds: 60, now: () => now });

it('returns its content until it expires', async () => {
  const ticket = await tickets().issue({ userId: 'u', email: 'a@b.example' });
  expect(await tickets().read(ticket)).toEqual({ userId: 'u', email: 'a@b.example' });
  now += 60_000 + 6_000;
  expect(await tickets().read(ticket)).toBeUndefined();
});

it('is valid under the previous secret during a rotation', async () => {
  const ticket = await tickets(OTHER).issue({ a: '1' });
  expect(await tickets(SECRET, 'test', OTHER).read(ticket)).toEqual({ a: '1' });
  expect(await tickets().read(ticket)).toBeUndefined();
});

it('is valid neither for another purpose nor as a session, and a session is not a valid ticket', async () => {
  const ticket = await tickets().issue({ a: '1' });
  expect(await tickets(SECRET, 'other').read(ticket)).toBeUndefined();
  const sessions = createSessionTokens({ secret: SECRET, now: () => now });
  expect(await sessions.verify(ticket)).toBeUndefined();
  const token = await sessions.mint({ userId: randomUUID(), sessionId: randomUUID(), expiresAt: NOW + 60_000 });
  expect(await tickets(SECRET, 'session').read(token)).toBeUndefined();
});

it('is refused if it is forged, changed, truncated or huge', async () => {
  const ticket = await tickets().issue({ a: '1' });
  const [head = '', body = '', signature = ''] = ticket.split('.');
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const changed = encode({ ...JSON.parse(Buffer.from(body, 'base64url').toString()), say: { a: '2' } });
  const none = `${encode({ alg: 'none' })}.${body}.`;
  const foreign = `${head}.${body}.${createHmac('sha256', OTHER).update(`${head}.${body}`).digest('base64url')}`;
  for (const wrong of [
    '',
    'x',
    none,
    foreign,
    `${head}.${changed}.${signature}`,
    ticket.slice(0, -2),
    'x'.repeat(5_000),
  ])
    expect(await tickets().read(wrong)).toBeUndefined();
});
