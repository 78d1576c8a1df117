import { randomUUID } from 'node:crypto';
import { waitUntil } from '@decision/local-stack';
import { type Transaction } from '@decision/persistence';
import { type Answer, type ObjectsApiUnderTest, startObjectsApi } from './objects-api-under-test';

let api: ObjectsApiUnderTest;
let workspaceId: string;
let admin: string;
let developer: string;

beforeAll(async () => {
  api = await startObjectsApi();
  workspaceId = await api.makeWorkspace('ours');
  admin = await api.makeKey(workspaceId, 'admin');
  developer = await api.makeKey(workspaceId, 'developer');
  await call('POST', '/admin/users/groups', { name: 'north' });
});
afterAll(() => api.stop());

const call = async (method: string, path: string, body?: unknown, key = admin): Promise<Answer> => {
  const answer = await api.call(key, method, path, body);
  expect([answer.status < 300, answer.body['error']]).toEqual([true, undefined]);
  return answer;
};
const textOf = ({ body }: Answer, field: string): string => String(body[field]);
const inWorkspace = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> =>
  api.database.inWorkspace({ workspaceId, userGroups: undefined }, work);

/** Sessions of this database that wait for a lock. */
const WAITING = /* sql */ `
  select cast(count(distinct pid) as integer) as waiting from pg_locks
  where not granted and pid in (
    select pid from pg_locks where database = (select oid from pg_database where datname = current_database())
  )`;

const untilWaiting = (sessions: number): Promise<void> =>
  waitUntil(
    async () => {
      const { rows } = await inWorkspace((transaction) => transaction.raw<{ rows: { waiting: number }[] }>(WAITING));
      return rows[0]?.waiting === sessions;
    },
    `${sessions} sessions wait`,
    20_000,
  );

/** Makes the changes with the row locked until both wait for it: each has completed its reads before the lock by then. */
const changeAtOnce = async (table: string, id: string, changes: readonly (() => Promise<Answer>)[]): Promise<void> => {
  const running = await inWorkspace(async (transaction) => {
    await transaction.raw(`select from ${table} where id = '${id}' for update`);
    const started = changes.map((change) => change());
    // A refused change never waits; it ends the test here.
    await Promise.race([
      untilWaiting(started.length),
      Promise.all(started).then(() => Promise.reject(new Error('Nobody locks the row.'))),
    ]);
    return { started };
  });
  await Promise.all(running.started);
};

interface Changeable {
  readonly table: string;
  readonly id: string;
  /** Changes of disjoint parts. */
  readonly changes: readonly (() => Promise<Answer>)[];
  /** Expected state after all changes. */
  readonly read: () => Promise<unknown>;
  readonly expected: unknown;
}

/** Everything that supports partial changes, by kind. A new kind of partial change belongs here. */
const CHANGEABLE: Readonly<Record<string, () => Promise<Changeable>>> = {
  'an object by its id': async () => {
    const name = randomUUID();
    const { body } = await call('PUT', '/objects', { name, content: '{"a": 1}' });
    const { id } = body['object'] as { id: string };
    return {
      ...{ table: 'workspace_objects', id },
      changes: [
        () => call('PUT', '/objects', { id, content: '{"b": 2}' }),
        () => call('PUT', '/objects', { id, user_groups: ['north'] }),
        () => call('PUT', '/objects', { id, name: `${name} renamed` }),
      ],
      read: async () => (await call('GET', `/objects/${id}`)).body,
      expected: { name: `${name} renamed`, content: '{"b": 2}', user_groups: ['north'] },
    };
  },
  'an object by its name': async () => {
    const name = randomUUID();
    const { body } = await call('PUT', '/objects', { name, content: '{"a": 1}' });
    const { id } = body['object'] as { id: string };
    return {
      ...{ table: 'workspace_objects', id },
      changes: [
        () => call('PUT', '/objects', { name, content: '{"b": 2}' }),
        () => call('PUT', '/objects', { name, user_groups: ['north'] }),
      ],
      read: async () => (await call('GET', `/objects/${id}`)).body,
      expected: { content: '{"b": 2}', user_groups: ['north'] },
    };
  },
  'an environment': async () => {
    const slug = `e-${randomUUID()}`.replace(/-(?=\d)/g, '-e');
    const save = (changes: object) => call('POST', '/admin/environments', { slug, ...changes });
    const id = textOf(await save({ level: 7 }), 'id');
    return {
      ...{ table: 'environments', id },
      changes: [
        () => save({ name: 'Renamed' }),
        () => save({ approvers: ['role:admin'] }),
        () => save({ approval_scheme: 'all', direct_releases: false }),
      ],
      read: async () => {
        const { body } = await call('GET', '/admin/environments');
        return (body['data'] as { slug: string }[]).find((environment) => environment.slug === slug);
      },
      expected: {
        ...{ name: 'Renamed', level: 7, approvers: ['role:admin'] },
        ...{ approval_scheme: 'all', direct_releases: false },
      },
    };
  },
  'a value': async () => {
    const name = `v_${randomUUID()}`;
    const { body } = await call('POST', '/values', { values: { [name]: 1 } });
    const id = String(body[0]?.['id']);
    const save = (changes: object) => call('PUT', `/values/${id}`, changes);
    return {
      ...{ table: 'workspace_values', id },
      changes: [
        () => save({ value: 2 }),
        () => save({ metadata: { unit: 'kg' } }),
        () => save({ user_groups: ['north'] }),
        () => save({ name: `${name}.renamed` }),
      ],
      read: async () => (await call('GET', `/values?name=${name}.renamed`)).body[0],
      expected: { id, value: 2, metadata: { unit: 'kg' }, user_groups: ['north'] },
    };
  },
  'a folder': async () => {
    const name = randomUUID();
    const id = textOf(await call('POST', '/admin/folders', { name }), 'id');
    const save = (changes: object) => call('POST', '/admin/folders', { id, name, ...changes });
    return {
      ...{ table: 'folders', id },
      changes: [() => save({ description: 'Prices' }), () => save({ type: 'context' })],
      read: async () => (await call('GET', `/admin/folders?name=${name}`)).body[0],
      expected: { id, description: 'Prices', type: 'context' },
    };
  },
  'a user': async () => {
    const email = `${randomUUID()}@example.com`;
    const { body } = await call('POST', '/admin/users/create', { email, password: 'correct horse battery' });
    const { id } = body['user'] as { id: string };
    const save = (changes: object) => call('PUT', `/admin/users/${id}`, changes);
    return {
      ...{ table: 'users', id },
      changes: [() => save({ name: 'Ada' }), () => save({ role: 'viewer' }), () => save({ user_groups: ['north'] })],
      read: async () => {
        const users = (await call('GET', '/admin/users/list')).body as unknown as { id: string }[];
        return users.find((user) => user.id === id);
      },
      expected: { name: 'Ada', role: 'viewer', user_groups: ['north'] },
    };
  },
  'a rule': async () => {
    const save = (rule: object) => call('POST', '/admin/rules/import', { rule });
    const id = textOf(await save({ name: 'Rule' }), 'id');
    return {
      ...{ table: 'rules', id },
      changes: [
        () => save({ id, description: 'Prices' }),
        () => save({ id, labels: ['a'] }),
        () => save({ id, requestSchema: [{ key: 'weight', type: 'number' }] }),
        () => save({ id, responseSchema: [{ key: 'price', type: 'number' }] }),
      ],
      read: async () => (await call('GET', `/admin/rules/export?id=${id}`)).body,
      expected: {
        ...{ description: 'Prices', labels: ['a'] },
        ...{ requestSchema: [{ key: 'weight' }], responseSchema: [{ key: 'price' }] },
      },
    };
  },
  'the tests of a rule': async () => {
    const { body } = await call('POST', '/admin/rules/import', { rule: { name: 'Tested' } });
    const add = (name: string) =>
      call('POST', `/admin/rules/${String(body['slug'])}/tests`, { name, request: {}, response: {}, critical: false });
    return {
      ...{ table: 'rules', id: String(body['id']) },
      changes: ['a', 'b', 'c'].map((name) => () => add(name)),
      read: async () => {
        const tests = (await call('GET', `/admin/rules/${String(body['slug'])}/tests`)).body as unknown as { name: string }[]; // prettier-ignore
        return tests.map(({ name }) => name).sort();
      },
      expected: ['a', 'b', 'c'],
    };
  },
  'the approvals of a release': async () => {
    const approvers = ['role:admin', 'role:developer'];
    const environment = `g-${randomUUID()}`.replace(/-(?=\d)/g, '-e');
    await call('POST', '/admin/environments', { slug: environment, approvers, approval_scheme: 'all' });
    const { body } = await call('POST', '/admin/rules/import', { rule: { name: 'Released', _publish: true } });
    const release = textOf(await call('POST', '/admin/releases', { rule: body['slug'], environment }), 'id');
    return {
      ...{ table: 'rules', id: String(body['id']) },
      changes: [admin, developer].map(
        (key) => () => call('POST', `/admin/releases/${release}/approve`, undefined, key),
      ),
      read: async () => (await call('GET', `/admin/releases?rule=${String(body['slug'])}`)).body['data'],
      expected: [{ id: release, state: 'live' }],
    };
  },
};

it.each(Object.keys(CHANGEABLE))('keeps every change of different parts of %s that are made at once', async (kind) => {
  const { table, id, changes, read, expected } = (await CHANGEABLE[kind]?.()) as Changeable; // a key of the table
  await changeAtOnce(table, id, changes);
  expect(await read()).toMatchObject(expected as object);
});
