import { randomUUID } from 'node:crypto';
import { addUsage } from '@decision/persistence';
import { Client } from 'pg';
import { type ObjectsApiUnderTest, startObjectsApi } from '../objects-api-under-test';

let api: ObjectsApiUnderTest;
let workspaceId: string;
let admin: string;
let north: string;
let south: string;
/** Connection of the owner of the tables. */
let client: Client;

beforeAll(async () => {
  api = await startObjectsApi();
  workspaceId = await api.makeWorkspace('statements');
  admin = await api.makeKey(workspaceId, 'admin');
  north = await api.makeKey(workspaceId, 'admin', ['north']);
  south = await api.makeKey(workspaceId, 'admin', ['south']);
  for (const name of ['north', 'south']) await api.call(admin, 'POST', '/admin/users/groups', { name });
  client = new Client({ connectionString: api.databaseUrl });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await api.stop();
});

const write = async (values: object, user_groups: string[], key = admin) => {
  const { status, body } = await api.call(key, 'POST', '/values', { values, user_groups });
  expect(status).toBe(200);
  return String(body[0]?.['id']);
};
const save = (rule: object, key = north) => api.call(key, 'POST', '/admin/rules/import', { rule });
const answering = (value: unknown, type = 'string') => ({
  requestSchema: [{ key: 'code', type: 'string' }],
  responseSchema: [{ key: 'y', type }],
  conditions: [{ response: { y: { value } } }],
});
const schemaOf = (name: string, members: string[]) =>
  JSON.stringify({ type: 'object', properties: { f: { type: 'string', enum: members, 'x-values-name': name } } });

describe('V3: what a definition names', () => {
  it('is seen by its definer: a hidden value and none are refused alike', async () => {
    await write({ v3_hidden: 'secret' }, ['south']);
    const refusals = [];
    for (const name of ['v3_hidden', 'v3_absent']) {
      const { status, body } = await save({ name: 'Made', ...answering({ $ref: name }) });
      refusals.push(JSON.stringify([status, body['error'], body['problems']]).replaceAll(name, ''));
      expect(status).toBe(422);
    }
    expect(refusals[0]).toBe(refusals[1]);
    expect((await save({ name: 'Made', ...answering({ $ref: 'v3_hidden' }) }, south)).status).toBe(200);
  });

  it('may stay in a list where it stood, as it stood, and is taken over into no other', async () => {
    const hidden = await write({ v3_member: 'secret' }, ['south']);
    const list = await write({ v3_list: [{ $ref: 'v3_member' }] }, ['north']);
    const reference = { $rb: 'globalValue', id: hidden, name: 'v3_member' };
    const put = (value: unknown) => api.call(north, 'PUT', `/values/${list}`, { value });
    expect(await put([{ ...reference, name: 'another' }, 'more'])).toMatchObject({
      body: { value: [reference, 'more'] },
    });
    expect(await put([{ $ref: 'v3_member' }])).toMatchObject({ status: 422 });
    const written = await api.call(north, 'POST', '/values', { values: { v3_list: [reference, 'own'] } });
    expect(written.body).toMatchObject([{ value: [reference, 'own'] }]);
    const synced = { collection: 'v3_others', values: { a: [reference] } };
    expect((await api.call(north, 'POST', '/values/sync', synced)).body).toMatchObject({
      created: 0,
      errors: [{ name: 'v3_others.a' }],
    });
    for (const name of ['v3_other', 'v3_others'])
      expect(await api.call(north, 'POST', '/values', { values: { [name]: [reference] } })).toMatchObject({
        status: 422,
      });
    const resolved = await api.call(north, 'GET', '/values?name=v3_list&resolve=true');
    expect(JSON.stringify(resolved.body)).not.toContain('secret');
  });
});

describe('V13: a name that something hidden has', () => {
  const taken: Record<string, () => Promise<[string, string, object]>> = {
    'slug of a rule': async () => {
      await save({ slug: 'v13-hidden', name: 'Secret title', ...answering('secret') }, south);
      return ['POST', '/admin/rules/import', { rule: { slug: 'v13-hidden', ...answering('x') } }];
    },
    'id of a rule': async () => {
      const id = randomUUID();
      await save({ id, name: 'Secret title', ...answering('secret') }, south);
      return ['POST', '/admin/rules/import', { rule: { id, ...answering('x') } }];
    },
    'name of a value': async () => {
      await write({ v13_hidden: 'secret' }, ['south']);
      return ['POST', '/values', { values: { v13_hidden: 'x' } }];
    },
    'name of an object': async () => {
      await api.call(south, 'PUT', '/objects', { name: 'V13 hidden', content: schemaOf('secret', ['a']) });
      return ['PUT', '/objects', { name: 'V13 hidden', content: schemaOf('v13_made', ['a']) }];
    },
    'name of a folder': async () => {
      await api.call(south, 'POST', '/admin/folders', { name: 'V13 hidden', description: 'secret' });
      return ['POST', '/admin/folders', { name: 'V13 hidden' }];
    },
    'email of a user': async () => {
      const user = { email: 'v13@example.com', password: 'a long enough password', name: 'secret', role: 'developer' };
      await api.call(south, 'POST', '/admin/users/create', user);
      return ['POST', '/admin/users/create', { ...user, name: 'x' }];
    },
  };

  it.each(Object.keys(taken))('is taken for every key as the %s, and nothing else is told', async (kind) => {
    const [method, path, body] = (await taken[kind]?.()) ?? ['', '', {}];
    const answer = await api.call(north, method, path, body);
    expect(answer).toMatchObject({ status: 409 });
    expect(JSON.stringify(answer.body).toLowerCase()).not.toMatch(/secret|south/);
  });

  it('is followed by a number if the service makes the name', async () => {
    expect((await save({ name: 'V13 next', ...answering('secret') }, south)).body['slug']).toBe('v13-next');
    expect((await save({ name: 'V13 next', ...answering('x') })).body['slug']).toBe('v13-next-2');
  });
});

it('V14: what was decided is counted for the whole workspace, whoever asks', async () => {
  const month = `${new Date().toISOString().slice(0, 7)}-01`;
  await api.database.inWorkspace({ workspaceId, userGroups: undefined }, (transaction) =>
    addUsage(transaction, { id: randomUUID(), month, executions: 7 }),
  );
  const counts = [];
  for (const key of [north, south, admin])
    counts.push((await api.call(key, 'GET', '/admin/usage')).body['monthly_executions_usage']);
  expect(counts).toEqual([7, 7, 7]);
});

describe('V15: the text of a visible thing', () => {
  it('shows the name in a reference, and not what it stands for', async () => {
    await write({ v15_hidden: 'secret' }, ['south']);
    const { body } = await save({ name: 'V15', user_groups: ['north'], ...answering({ $ref: 'v15_hidden' }) }, admin);
    const shown = await api.call(north, 'GET', `/admin/rules/export?id=${String(body['id'])}`);
    expect(shown.body).toMatchObject({ conditions: [{ response: { y: { value: { name: 'v15_hidden' } } } }] });
    expect(JSON.stringify(shown.body)).not.toContain('secret');
  });

  it('shows the object that a field comes from by the name that stands in it', async () => {
    const object = { name: 'V15 object', content: schemaOf('v15_secret', ['secret']), user_groups: ['south'] };
    expect((await api.call(admin, 'PUT', '/objects', object)).status).toBe(200);
    const requestSchema = [{ key: 'f', type: 'string', source: { object: 'V15 object' } }];
    const { body } = await save(
      { slug: 'v15-source', user_groups: ['north'], ...answering('x'), requestSchema },
      admin,
    );
    const shown = await api.call(north, 'GET', '/admin/rules/list?include=drift&slug=v15-source');
    expect(shown.body[0]).toMatchObject({
      id: body['id'],
      drift: [{ kind: 'object_missing', object: { name: 'V15 object' } }],
    });
    expect(JSON.stringify(shown.body)).not.toContain('secret');
  });
});

describe('V1: a value that an object no longer generates', () => {
  const drifted = async (name: string) => {
    const object = { name, content: schemaOf(`of_${name}`, ['a', 'b']), user_groups: ['north'] };
    expect((await api.call(admin, 'PUT', '/objects', object)).status).toBe(200);
    const slug = `uses-${name}`;
    expect((await save({ slug, ...answering({ $ref: `of_${name}.b` }) })).status).toBe(200);
    const changed = { ...object, content: schemaOf(`of_${name}`, ['a']) };
    expect((await api.call(admin, 'PUT', '/objects', changed)).status).toBe(200);
    return {
      object: changed,
      driftFor: async (key: string) =>
        (await api.call(key, 'GET', `/admin/rules/list?include=drift&slug=${slug}`)).body[0]?.['drift'],
    };
  };

  it('is told with its object to a key that sees both', async () => {
    const { driftFor } = await drifted('shown');
    expect(await driftFor(north)).toMatchObject([{ kind: 'value_archived', object: { name: 'shown' } }]);
  });

  it('is told alike whether its object is hidden or gone', async () => {
    const hidden = await drifted('veiled');
    const gone = await drifted('erased');
    const moved = { ...hidden.object, user_groups: ['south'] };
    expect((await api.call(admin, 'PUT', '/objects', moved)).status).toBe(200);
    expect((await api.call(admin, 'DELETE', '/objects/erased')).status).toBe(200);
    expect(await hidden.driftFor(north)).toEqual([]); // its values went with it
    await client.query(`update workspace_values set user_groups = '{north}' where name = 'of_veiled.b'`);
    const told = [await hidden.driftFor(north), await gone.driftFor(north)].map((drift) => {
      expect(drift).toMatchObject([{ kind: 'value_archived' }]);
      return JSON.stringify(drift)
        .replace(/"id":"[^"]*"/, '')
        .replaceAll(/of_(veiled|erased)/g, '');
    });
    expect(told[0]).toBe(told[1]);
    expect(await hidden.driftFor(admin)).toMatchObject([{ object: { name: 'veiled' } }]);
  });
});
