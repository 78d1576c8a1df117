import { createSessionVerifier, type SessionFacts } from '../src';

const HOUR_MS = 3_600_000;
let time = Date.parse('2026-01-15T09:30:00Z');
let looked: string[] = [];
let proofs = 0;
let stored: Map<string, SessionFacts>;
const facts = (sessionId: string, changes: Partial<SessionFacts> = {}): SessionFacts => ({
  ...{ sessionId, userId: `user of ${sessionId}`, revokedAt: null, disabledAt: null },
  expiresAt: new Date(time + HOUR_MS).toISOString(),
  ...changes,
});
/** Here a token is the id of its session, and `forged` is invalid. */
const tokens = {
  verify: (token: string) => {
    proofs += 1;
    const proven = { userId: `user of ${token}`, sessionId: token, expiresAt: time + HOUR_MS };
    return Promise.resolve(token.startsWith('forged') ? undefined : proven);
  },
};
const findSession = (sessionId: string) => {
  looked.push(sessionId);
  return Promise.resolve(stored.get(sessionId));
};
const start = (capacity = 100) => createSessionVerifier({ tokens, findSession, now: () => time, capacity });

beforeEach(() => {
  [looked, proofs] = [[], 0];
  stored = new Map(['a', 'b', 'c'].map((id) => [id, facts(id)]));
});

it('verifies a token once and asks the database once, for any number of sequential and concurrent uses', async () => {
  const verifier = start();
  const answers = await Promise.all(Array.from({ length: 100 }, () => verifier.verify('a')));
  expect(answers.every((answer) => answer === stored.get('a'))).toBe(true);
  await verifier.verify('a');
  expect(verifier.recall('a')).toBe(stored.get('a'));
  expect({ looked, proofs }).toEqual({ looked: ['a'], proofs: 1 });
});

it('asks again after a minute', async () => {
  const verifier = start();
  await verifier.verify('a');
  time += 59_999;
  await verifier.verify('a');
  expect(looked).toEqual(['a']);
  time += 1;
  expect(verifier.recall('a')).toBeUndefined();
  stored.set('a', facts('a', { revokedAt: new Date(time).toISOString() }));
  expect(await verifier.verify('a')).toBeUndefined();
});

it.each(['session:a', 'user:user of a'])('asks again at once if %s was invalidated', async (key) => {
  const verifier = start();
  await verifier.verify('a');
  await verifier.verify('b');
  stored.delete('a');
  verifier.forget(key);
  expect(await verifier.verify('a')).toBeUndefined();
  expect(await verifier.verify('b')).toBe(stored.get('b'));
  expect(looked).toEqual(['a', 'b', 'a']);
});

it('does not remember a look-up that began before an invalidation', async () => {
  let answer: (found: SessionFacts) => void = () => undefined;
  const verifier = createSessionVerifier({
    ...{ tokens, now: () => time },
    findSession: () => new Promise<SessionFacts>((resolve) => (answer = resolve)),
  });
  const flight = verifier.verify('a');
  await new Promise(setImmediate);
  verifier.forget('user:user of a');
  answer(facts('a'));
  await flight;
  expect(verifier.size()).toBe(0);
});

it.each<[string, Partial<SessionFacts>]>([
  ['revoked', { revokedAt: '2026-01-01T00:00:00Z' }],
  ['of a disabled person', { disabledAt: '2026-01-01T00:00:00Z' }],
  ['expired', { expiresAt: '2026-01-01T00:00:00Z' }],
  ['of somebody else', { userId: 'another' }],
])('refuses a session that is %s, and looks it up at most every five seconds', async (_, changes) => {
  const verifier = start();
  stored.set('a', facts('a', changes));
  for (let asked = 0; asked < 50; asked += 1) expect(await verifier.verify('a')).toBeUndefined();
  expect(looked).toHaveLength(1);
  stored.set('a', facts('a'));
  time += 5_000;
  expect(await verifier.verify('a')).toBe(stored.get('a'));
});

it('remembers no forged tokens, and never looks them up', async () => {
  const verifier = start();
  for (let forged = 0; forged < 500; forged += 1) expect(await verifier.verify(`forged ${forged}`)).toBeUndefined();
  expect({ looked, kept: verifier.size() }).toEqual({ looked: [], kept: 0 });
});

it('forgets the least recently used token once it is full', async () => {
  const verifier = start(2);
  for (const token of ['a', 'b', 'a', 'c']) await verifier.verify(token);
  expect(verifier.size()).toBe(2);
  expect([verifier.recall('a'), verifier.recall('b'), verifier.recall('c')].map((one) => one?.sessionId)).toEqual(['a', undefined, 'c']); // prettier-ignore
});

it('passes failures on, and does not remember them', async () => {
  let fails = true;
  const failing = () => (fails ? Promise.reject(new Error('away')) : Promise.resolve(facts('a')));
  const verifier = createSessionVerifier({ tokens, findSession: failing, now: () => time });
  await expect(verifier.verify('a')).rejects.toThrow('away');
  fails = false;
  expect(await verifier.verify('a')).toMatchObject({ sessionId: 'a' });
});
