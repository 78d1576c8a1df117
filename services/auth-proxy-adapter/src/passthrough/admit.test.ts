import { ServiceError } from '@decision/contracts';
import { createPassthrough } from './admit';
import { type TokenIdentity } from './claims';

interface Session {
  readonly sessionId: string;
  readonly userId: string;
  readonly email: string;
  readonly expiresAt: string;
  readonly revokedAt: null;
  readonly disabledAt: null;
}

const tokenOf = (claims: object): string => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`;
const requestOf = (claims: object, cookie?: string) => ({
  rawHeaders: ['Authorization', `Bearer ${tokenOf(claims)}`],
  headers: cookie === undefined ? {} : { cookie },
  ...{ address: '203.0.113.7', userAgent: 'test' },
});

/** A passthrough whose sessions are in memory. */
const setUp = (work: (identity: TokenIdentity) => Promise<void> = () => Promise.resolve()) => {
  const sessions = new Map<string, Session>();
  const counts = { begun: 0, proven: 0, running: 0, most: 0 };
  const passthrough = createPassthrough<Session>({
    header: 'Authorization',
    claimPaths: { id: 'sub', email: 'email', name: 'name' },
    verifier: {
      recall: (token) => sessions.get(token),
      verify: (token) => {
        counts.proven += 1;
        return Promise.resolve(sessions.get(token));
      },
    },
    begin: async (identity) => {
      counts.begun += 1;
      counts.running += 1;
      counts.most = Math.max(counts.most, counts.running);
      await work(identity).finally(() => (counts.running -= 1));
      const token = `session-${counts.begun}`;
      const expiresAt = new Date(Date.now() + 1_000).toISOString();
      sessions.set(token, {
        sessionId: token,
        userId: token,
        email: identity.email,
        expiresAt,
        revokedAt: null,
        disabledAt: null,
      });
      return token;
    },
  });
  return { passthrough, sessions, counts };
};

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

it('a known person is admitted at once, without a look-up', async () => {
  const { passthrough, counts } = setUp();
  const { token } = await passthrough.admit(requestOf({ email: 'ada@example.com' }));
  const proven = counts.proven;
  const admitted = passthrough.admit(requestOf({ email: 'Ada@example.com', iat: 7 }, `decision_session=${token}`));
  expect(admitted).toMatchObject({ token, isNew: false });
  expect([counts.begun, counts.proven]).toEqual([1, proven]);
});

it('concurrent first requests of one person begin one session', async () => {
  const { passthrough, counts } = setUp(pause);
  const all = await Promise.all(
    Array.from({ length: 100 }, async (_, index) => passthrough.admit(requestOf({ email: 'ada@example.com', index }))),
  );
  expect(new Set(all.map(({ token }) => token)).size).toBe(1);
  expect(counts.begun).toBe(1);
});

it('an ended session is replaced by a new one, with and without its cookie', async () => {
  const { passthrough, sessions, counts } = setUp();
  const first = await passthrough.admit(requestOf({ email: 'ada@example.com' }));
  sessions.clear();
  const second = await passthrough.admit(requestOf({ email: 'ada@example.com' }, `decision_session=${first.token}`));
  sessions.clear();
  const third = await passthrough.admit(requestOf({ email: 'ada@example.com' }));
  expect([second.isNew, third.isNew, counts.begun]).toEqual([true, true, 3]);
});

it('a flood of strangers runs a few at a time, is refused beyond the queue, and delays no known person', async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const { passthrough, counts } = setUp(({ email }) => (email.startsWith('known') ? Promise.resolve() : held));
  const { token } = await passthrough.admit(requestOf({ email: 'known@example.com' }));
  const flood = Array.from({ length: 1_000 }, async (_, index) => {
    try {
      await passthrough.admit(requestOf({ email: `x${index}@example.com` }));
      return 'admitted';
    } catch (error) {
      return error instanceof ServiceError ? error.code : 'other';
    }
  });
  await pause();
  const known = passthrough.admit(requestOf({ email: 'known@example.com' }, `decision_session=${token}`));
  expect(known).toMatchObject({ token });
  release();
  const outcomes = await Promise.all(flood);
  expect(counts.most).toBe(2);
  expect(outcomes.filter((outcome) => outcome === 'overloaded')).toHaveLength(1_000 - 2 - 256);
  expect(outcomes.filter((outcome) => outcome === 'admitted')).toHaveLength(2 + 256);
});

it('a failed sign-in is not remembered: the next request tries again', async () => {
  let fails = true;
  const { passthrough } = setUp(() =>
    fails ? Promise.reject(new ServiceError('database_unavailable', 'away')) : Promise.resolve(),
  );
  await expect(passthrough.admit(requestOf({ email: 'ada@example.com' }))).rejects.toThrow('away');
  fails = false;
  expect(await passthrough.admit(requestOf({ email: 'ada@example.com' }))).toMatchObject({ isNew: true });
});

it('a sign-in that takes too long is answered, and those waiting behind it do not begin', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  const { passthrough, counts } = setUp(() => new Promise(() => undefined));
  const asked = Array.from({ length: 6 }, (_, index) =>
    Promise.resolve(passthrough.admit(requestOf({ email: `x${index}@example.com` }))).catch((error: unknown) => error),
  );
  await jest.advanceTimersByTimeAsync(8_001);
  jest.useRealTimers();
  for (const outcome of await Promise.all(asked)) expect(outcome).toMatchObject({ code: 'database_unavailable' });
  expect(counts.begun).toBe(2);
});

it('beyond the queue, tokens of strangers are refused undecoded, and people with a session continue with a new token', async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const { passthrough } = setUp(({ email }) => (email.startsWith('known') ? Promise.resolve() : held));
  const { token } = await passthrough.admit(requestOf({ email: 'known@example.com' }));
  const flood = Array.from({ length: 258 }, async (_, index) => passthrough.admit(requestOf({ email: `x${index}@example.com` }))); // prettier-ignore
  await pause();
  const garbage = { ...requestOf({}), rawHeaders: ['Authorization', 'e30.garbage.x'] };
  expect(() => passthrough.admit(garbage)).toThrow(expect.objectContaining({ code: 'overloaded' }));
  const known = passthrough.admit(requestOf({ email: 'known@example.com', iat: 9 }, `decision_session=${token}`));
  expect(known).toMatchObject({ token, isNew: false });
  release();
  await Promise.all(flood);
  expect(() => passthrough.admit(garbage)).toThrow(expect.objectContaining({ code: 'invalid_token' }));
});
