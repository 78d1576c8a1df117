import { randomBytes } from 'node:crypto';
import { createInvitation, createUserLink, openDatabase, type Transaction } from '@decision/persistence';
import { createLinkToken } from '@decision/service-kit';
import { type AdapterUnderTest, passthroughEnvironment, startAdapter, tokenOf } from './adapter-under-test';
import { openPeopleUnderTest, PASSWORD } from './people-under-test';

/*
 * The database fails before each request of a sign-in: nobody is admitted, nothing is half done, and afterwards the sign-in works as usual.
 */

let adapter: AdapterUnderTest;
const people = openPeopleUnderTest(() => adapter);
const { post, signIn } = people;

/** More than the requests of any sign-in. */
const MOST_STEPS = 60;
/** Number of rows of each of these, such as `users where true`. */
const counts = async (...sources: readonly string[]): Promise<readonly number[]> => {
  const columns = sources.map((source) => `(select count(*)::int from ${source})`);
  const [row] = await adapter.sql(`select array[${columns.join(', ')}] as counts`);
  return row?.['counts'] as readonly number[]; // the type of the column
};
const inside = async <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> => {
  const database = openDatabase({ url: adapter.databaseUrl, applicationName: 'test-set-up' });
  const done = await database.inWorkspace({ workspaceId: adapter.workspaceId, userGroups: undefined }, work);
  await database.close();
  return done;
};

interface WayIn {
  /** Sends the request. */
  ask(): Promise<Response>;
  /** Throws if something of the refused request was stored. */
  checkRefused(): Promise<void>;
  /** Signs in now that the database is back, and throws if that fails or something was stored twice. */
  checkAfterwards(): Promise<void>;
}

/** Makes one request per step, with the database failing from that step on; answers the number of steps. */
const atEachStep = async (begin: () => Promise<WayIn>): Promise<number> => {
  for (let step = 1; step <= MOST_STEPS; step += 1) {
    const way = await begin();
    adapter.fault.at(step);
    const answer = await way.ask();
    const struck = adapter.fault.struck();
    adapter.fault.at(Infinity);
    if (!struck) {
      expect([200, 303]).toContain(answer.status);
      return step - 1;
    }
    expect([step, answer.status, answer.headers.getSetCookie()]).toEqual([step, 503, []]);
    expect(await answer.text()).not.toMatch(/postgres|terminat|connection/i);
    await way.checkRefused();
    await way.checkAfterwards();
  }
  throw new Error(`It asks more than ${MOST_STEPS} things of the database.`);
};

let names = 0;
const newEmail = (): string => `fault-${(names += 1)}@example.com`;
const sessionsOf = (email: string): string => `sessions s join users u on u.id = s.user_id where u.email = '${email}'`;

describe('with passthrough', () => {
  beforeAll(async () => (adapter = await startAdapter(passthroughEnvironment)));
  afterAll(() => adapter.stop());

  it('a first request creates a complete person or none', async () => {
    const steps = await atEachStep(async () => {
      const email = newEmail();
      const ask = () =>
        fetch(`${adapter.url}/auth/check`, { headers: { authorization: `Bearer ${tokenOf({ email, name: 'A' })}` } });
      const parts = () =>
        counts(
          `users where email = '${email}'`,
          `user_usage y join users u on u.id = y.user_id where u.email = '${email}'`,
          `api_keys where name = '${email}'`,
          sessionsOf(email),
          `sign_ins where email = '${email}'`,
        );
      return Promise.resolve({
        ask,
        // A commit is complete, even if its answer was lost.
        checkRefused: async () => expect([[0, 0, 0, 0, 0], [1, 1, 1, 1, 1]]).toContainEqual(await parts()), // prettier-ignore
        checkAfterwards: async () => {
          expect((await ask()).status).toBe(200);
          const [users, usage, keys, sessions = 0, signIns] = await parts();
          expect([users, usage, keys, signIns]).toEqual([1, 1, 1, sessions]);
          expect(sessions).toBeLessThan(3);
        },
      });
    });
    expect(steps).toBeGreaterThan(8);
  });
});

describe('without passthrough', () => {
  beforeAll(async () => (adapter = await startAdapter({ JWT_SECRET: 's'.repeat(40) })));
  afterAll(() => adapter.stop());

  it('a sign-in by password begins a session or none', async () => {
    const steps = await atEachStep(async () => {
      const { email } = await people.add();
      const ask = () => post('/auth/signin', { email, password: PASSWORD });
      return {
        ask,
        checkRefused: async () => expect(await counts(sessionsOf(email))).toEqual([0]),
        checkAfterwards: async () => {
          expect((await ask()).status).toBe(303);
          expect(await counts(sessionsOf(email), `sign_ins where email = '${email}' and outcome = 'succeeded'`)).toEqual([1, 1]); // prettier-ignore
        },
      };
    });
    expect(steps).toBeGreaterThan(6);
  });

  it('a link changes the password and is used up, or neither', async () => {
    const other = 'another horse battery';
    const steps = await atEachStep(async () => {
      const { id: userId, email } = await people.add();
      const { token, selector, tokenHash } = createLinkToken(randomBytes);
      const link = { userId, purpose: 'reset', selector, tokenHash, expiresAt: '2099-01-01T00:00:00.000Z' } as const;
      await inside((transaction) => createUserLink(transaction, link));
      const ask = () => post(`/auth/reset/${token}`, { password: other, again: other });
      return {
        ask,
        checkRefused: async () => expect(await signIn(email)).toBeDefined(),
        checkAfterwards: async () => {
          expect((await ask()).status).toBe(200);
          expect([await signIn(email, other), await signIn(email)]).toEqual([expect.any(String), undefined]);
        },
      };
    });
    expect(steps).toBeGreaterThan(5);
  });

  it('an invitation creates a complete person who can sign in, or stays', async () => {
    const steps = await atEachStep(async () => {
      const email = newEmail();
      const { token, selector, tokenHash } = createLinkToken(randomBytes);
      const invitation = { email, role: 'editor', userGroups: [], selector, tokenHash, expiresAt: '2099-01-01T00:00:00.000Z' }; // prettier-ignore
      await inside((transaction) => createInvitation(transaction, invitation));
      const ask = () => post(`/auth/invitation/${token}`, { name: 'A', password: PASSWORD, again: PASSWORD });
      const parts = () =>
        counts(
          `users where email = '${email}'`,
          `api_keys where name = '${email}'`,
          `invitations where email = '${email}'`,
        );
      return {
        ask,
        checkRefused: async () => expect([[0, 0, 1], [1, 1, 0]]).toContainEqual(await parts()), // prettier-ignore
        checkAfterwards: async () => {
          const [users] = await parts();
          if (users === 0) expect((await ask()).status).toBe(303);
          expect(await signIn(email)).toBeDefined();
          expect(await parts()).toEqual([1, 1, 0]);
        },
      };
    });
    expect(steps).toBeGreaterThan(8);
  });
});
