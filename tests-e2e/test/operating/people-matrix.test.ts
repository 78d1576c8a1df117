import { createHmac, randomUUID } from 'node:crypto';
import { builtInRoles, type Entitlement, entitlements, operations } from '@decision/contracts';
import { ensureAdminKey } from '@decision/launcher';
import { testStack } from '@decision/local-stack';
import {
  applyMapping,
  createSession,
  type Database,
  deleteUser,
  ensureWorkspace,
  openDatabase,
  provisionPerson,
  saveRole,
  type Transaction,
  updateUser,
} from '@decision/persistence';
import { createSessionTokens } from '@decision/sessions';
import { call } from '../fleet/fleet-under-test';
import { enterExampleWorkspace, type SharedFleet } from '../fleet/shared-fleet';
import { SHARED_JWT_SECRET } from '../fleet/shared-fleet-secret';

/* Every call of every service, made by every kind of person: what a role permits, what groups reveal, and which sessions are invalid. */

const SECONDS = 1_000;
/** Number of concurrent requests. */
const LANES = 6;
const HOUR_MS = 3_600_000;
/** Part of the names of everything in the workspace, and of nothing else. */
const MARK = 'marked-thing';

const calls = operations.flatMap((operation) =>
  operation.entitlement === undefined ? [] : [{ ...operation, entitlement: operation.entitlement }],
);
type Operation = (typeof calls)[number];

/**
 * Calls without an identity: their answer is the same for everybody, or they authenticate in their own way. A new call must be added here, or
 * have an entitlement.
 */
const ASKING_NOBODY = new Set(
  operations.flatMap((operation) => (operation.entitlement === undefined ? [operation.id] : [])),
);
const KNOWN_TO_ASK_NOBODY: readonly string[] = [
  ...['acceptInvitation', 'showInvitation', 'getBranding', 'getHealth', 'getMetrics'],
  // The door checks the token or session itself; see its tests.
  ...['checkRequest', 'getPassthroughClaims', 'provisionSso'],
];

let service: SharedFleet;
let database: Database;
let workspaceId: string;
/** Session tokens by owner. */
const tokens = new Map<string, string>();
const entitlementNames = Object.keys(entitlements) as Entitlement[]; // the keys of the table

const inside = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> =>
  database.inWorkspace({ workspaceId, userGroups: undefined }, work);

interface Rights {
  readonly role?: string;
  readonly userGroups?: readonly string[];
  readonly allGroups?: boolean;
}

const newPerson = async (email: string, rights?: Rights): Promise<string> => {
  const named = { email, adminEmail: 'boss@example.com', name: null, externalSub: null, externalClaims: {} };
  const { person } = await inside((transaction) => provisionPerson(transaction, named));
  if (rights !== undefined) await inside((transaction) => applyMapping(transaction, person.id, rights));
  return person.id;
};

const signIn = async (userId: string, secret = SHARED_JWT_SECRET, lifeMs = HOUR_MS): Promise<string> => {
  const expiresAt = Date.now() + lifeMs;
  const session = { userId, method: 'passthrough', address: null, userAgent: null } as const;
  const sessionId = await inside((transaction) =>
    createSession(transaction, { ...session, expiresAt: new Date(expiresAt).toISOString() }),
  );
  return createSessionTokens({ secret, now: Date.now }).mint({ userId, sessionId, expiresAt });
};

beforeAll(async () => {
  service = await enterExampleWorkspace();
  const slug = testStack().uniqueName('people');
  ({ id: workspaceId } = await ensureWorkspace(service.databaseUrl, { slug, name: slug }));
  database = openDatabase({ url: service.databaseUrl, applicationName: 'people-matrix', acquireTimeoutMs: 60_000 });
  await makeThings(await ensureAdminKey(service.databaseUrl, workspaceId, undefined));
  await makePeople();
}, 360 * SECONDS);
afterAll(() => database?.close());

/** A rule and an invitation that only unrestricted people see, and others of the group north. */
const makeThings = async (apiKey: string): Promise<void> => {
  const make = async (path: string, body: object): Promise<void> => {
    const { status, body: answer } = await call(`${service.baseUrl}/api/v1/${path}`, 'POST', body, { 'x-api-key': apiKey });
    if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(answer)}`);
  };
  for (const group of ['north', 'south']) await make('admin/users/groups', { name: group });
  for (const [name, user_groups] of [[`${MARK}-open`, []], [`${MARK}-north`, ['north']]] as const) {
    const shape = { requestSchema: [], responseSchema: [{ key: 'y', type: 'string', defaultValue: MARK }] };
    await make('admin/rules/import', { rule: { ...shape, name, slug: name, user_groups, _publish: true } });
    await make('admin/users/invite', { email: `${name}@example.com`, user_groups });
  }
}; // prettier-ignore

const INVALID = ['disabled', 'expired', 'another secret', 'alg: none', 'deleted'] as const;

const makePeople = async (): Promise<void> => {
  for (const name of entitlementNames) {
    await inside((transaction) => saveRole(transaction, { name: `only ${name}`, entitlements: [name] }));
    tokens.set(name, await signIn(await newPerson(`${name}@example.com`, { role: `only ${name}`, allGroups: true })));
  }
  tokens.set('admin', await signIn(await newPerson('boss@example.com')));
  tokens.set('developer', await signIn(await newPerson('developer@example.com')));
  tokens.set('without groups', await signIn(await newPerson('nothing@example.com', { role: 'admin', userGroups: [] })));
  tokens.set('of south', await signIn(await newPerson('south@example.com', { role: 'admin', userGroups: ['south'] })));
  tokens.set('of north', await signIn(await newPerson('north@example.com', { role: 'admin', userGroups: ['north'] })));
  const gone = async (): Promise<string> =>
    newPerson(`${randomUUID()}@example.com`, { role: 'admin', allGroups: true });
  const [disabled, deleted] = [await gone(), await gone()];
  tokens.set('disabled', await signIn(disabled));
  tokens.set('deleted', await signIn(deleted));
  await inside((transaction) => updateUser(transaction, disabled, { disabled: true }));
  await inside((transaction) => deleteUser(transaction, deleted));
  tokens.set('expired', await signIn(await gone(), SHARED_JWT_SECRET, -60_000));
  tokens.set('another secret', await signIn(await gone(), 'x'.repeat(40)));
  const [head = '', body = ''] = (await signIn(await gone())).split('.');
  const none = Buffer.from('{"alg":"none"}').toString('base64url');
  tokens.set('alg: none', `${head === '' ? '' : none}.${body}.`);
};

/** Calls the service directly, with the example of each path parameter, so that changes address nothing that exists. */
const ask = ({ method, path, pathParameters, service: name, body }: Operation, who: string) => {
  const example = pathParameters.reduce((text, parameter) => text.replace(`{${parameter.name}}`, encodeURIComponent(parameter.example)), path); // prettier-ignore
  const given = body === undefined ? undefined : {};
  const cookie = { cookie: `decision_session=${tokens.get(who) ?? ''}` };
  return call(`${service.urlOf(name)}${example}`, method.toUpperCase(), given, cookie);
};

/** Faults of the answers to these, with some requests in flight at once. */
const inLanes = async <T>(items: readonly T[], check: (item: T) => Promise<unknown>): Promise<readonly unknown[]> => {
  const [left, wrong] = [items.values(), [] as unknown[]];
  const lane = async (): Promise<void> => {
    for (const item of left) {
      const found = await check(item);
      if (found !== undefined) wrong.push(found);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return wrong;
};

const codeOf = (body: unknown): { readonly code?: string; readonly entitlement?: string } =>
  typeof body === 'object' && body !== null ? body : {};

it.each(INVALID)('a session that is %s opens no call', async (who) => {
  const wrong = await inLanes(calls, async (operation) => {
    const { status, body } = await ask(operation, who);
    return status === 401 && codeOf(body).code === 'invalid_session' ? undefined : [operation.id, status, body];
  });
  expect(wrong).toEqual([]);
});

const ROLES: readonly (readonly [string, readonly Entitlement[]])[] = [
  ['admin', builtInRoles.admin],
  ['developer', builtInRoles.developer],
  ...entitlementNames.map((name) => [name, [name]] as const),
];

it.each(ROLES)('the role "%s" opens the calls of its entitlements, and no others', async (who, allowed) => {
  const wrong = await inLanes(calls, async (operation) => {
    const { status, body } = await ask(operation, who);
    const { code, entitlement } = codeOf(body);
    const isRefused = status === 403 && code === 'forbidden' && entitlement === operation.entitlement;
    const isRight = allowed.includes(operation.entitlement) ? !isRefused && status !== 401 && status < 500 : isRefused;
    return isRight || isOfBroker(status, code) ? undefined : [operation.id, status, body];
  });
  expect(wrong).toEqual([]);
});

/** Solving may be refused briefly while the fleet is busy. */
const isOfBroker = (status: number, code: string | undefined): boolean =>
  (status === 429 && code === 'overloaded') || (status === 503 && code === 'broker_unavailable');

/** The audit shows everybody their newest entries, which differ with visibility; it has its own tests. */
const READS = calls.filter(({ method, id }) => method === 'get' && id !== 'listAudit');
const shown = async (who: string): Promise<readonly string[]> => {
  const found: string[] = [];
  await inLanes(READS, async (operation) => {
    const { body } = await ask(operation, who);
    for (const name of [`${MARK}-open`, `${MARK}-north`])
      if (JSON.stringify(body ?? '').includes(name)) found.push(`${operation.id} ${name}`);
  });
  return found.sort();
};

it('a person sees what shares a group with it: everything, the things of the group, or nothing at all', async () => {
  const everything = await shown('admin');
  expect(everything).toEqual(expect.arrayContaining(['listRules', 'listInvitations'].flatMap((id) => [`${id} ${MARK}-north`, `${id} ${MARK}-open`]))); // prettier-ignore
  expect(await shown('of north')).toEqual(everything.filter((name) => name.endsWith('-north')));
  expect(await shown('of south')).toEqual([]);
  expect(await shown('without groups')).toEqual([]);
});

it('a person solves what it sees, through the ingress too, and nothing else exists', async () => {
  const solve = async (who: string, slug: string) =>
    (await call(`${service.baseUrl}/api/v1/solve/${slug}`, 'POST', {}, { cookie: `decision_session=${tokens.get(who) ?? ''}` })).status; // prettier-ignore
  const statuses = async (who: string) => [await solve(who, `${MARK}-open`), await solve(who, `${MARK}-north`)];
  expect(await statuses('solve')).toEqual([200, 200]);
  expect(await statuses('of north')).toEqual([404, 200]);
  expect(await statuses('of south')).toEqual([404, 404]);
  expect(await statuses('without groups')).toEqual([404, 404]);
  expect(await statuses('deleted')).toEqual([401, 401]);
});

it('a session changes nothing from another site, in any service', async () => {
  const changing = calls.filter(({ method }) => method !== 'get');
  const wrong = await inLanes(changing, async (operation) => {
    const url = `${service.urlOf(operation.service)}${operation.path}`;
    const headers = { cookie: `decision_session=${tokens.get('admin') ?? ''}`, origin: 'https://evil.example' };
    const { status, body } = await call(url, operation.method.toUpperCase(), undefined, headers);
    return status === 403 && codeOf(body).code === 'cross_site_request' ? undefined : [operation.id, status, body];
  });
  expect(wrong).toEqual([]);
});

it('a header of the client with a session of its own counts for nothing at the ingress', async () => {
  const headers = { 'x-decision-session': createHmac('sha256', 'x').update('y').digest('hex') };
  const { status, body } = await call(`${service.baseUrl}/api/v1/admin/rules/list`, 'GET', undefined, headers);
  expect([status, codeOf(body).code]).toEqual([401, 'missing_api_key']);
});

it('every call has an entitlement, or is known to ask nobody', () => {
  expect([...ASKING_NOBODY].sort()).toEqual([...KNOWN_TO_ASK_NOBODY].sort());
});
