import { saveValues } from '@decision/persistence';
import { type Answer, type ContextsApiUnderTest, startContextsApi } from './contexts-api-under-test';

let api: ContextsApiUnderTest;
let north: string;
let south: string;
beforeAll(async () => {
  api = await startContextsApi();
  north = await api.makeKey('admin', ['north']);
  south = await api.makeKey('admin', ['south']);
});
afterAll(() => api.stop());

/** Part of every name and fact that the north does not see. */
const MARKER = 'hidden';
let count = 0;
let own: { id: string; slug: string };
let theirs: { id: string; slug: string };
let relationship: string;

const base = (...keys: string[]) => [
  { key: 'id', type: 'string', required: true },
  ...keys.map((key) => ({ key, type: key === 'amount' ? 'number' : 'string' })),
];
const make = async (name: string, key: string, schema: object): Promise<{ id: string; slug: string }> => {
  const answer = await api.call('POST', '/admin/contexts', { name, identity_fact: 'id', schema }, key);
  expect(answer.status).toBe(200);
  return { id: String(answer.body['id']), slug: String(answer.body['slug']) };
};
const relate = async (from: string, to: string, name: string, key = api.adminKey) => {
  const request = { to_context_id: to, relation_type: 'has_many', foreign_key_fact: 'owner', name };
  return api.call('POST', `/admin/contexts/${from}/relationships`, request, key);
};
const put = (schema: object, key = north, more: object = {}) =>
  api.call('PUT', `/admin/contexts/${own.id}`, { schema, ...more }, key);
const submit = (slug: string, id: string, facts: object, key: string) =>
  api.call('POST', `/contexts/${slug}/${id}`, facts, key);
/** Checks that an answer shows nothing hidden. */
const expectClean = ({ body }: Answer): void => expect(JSON.stringify(body)).not.toContain(MARKER);
/** Compares two answers, ignoring the names. */
const sameBut = (first: Answer, second: Answer, ...names: string[]): void => {
  const [a, b] = [first, second].map((answer) =>
    names.reduce((text, name) => text.replaceAll(name, 'NAME'), JSON.stringify([answer.status, answer.body])),
  );
  expect(a?.replace(/"request_id":"[^"]*"/, '')).toBe(b?.replace(/"request_id":"[^"]*"/, ''));
};

beforeEach(async () => {
  count += 1;
  own = await make(`own ${count}`, north, { base: base('owner', 'note', 'amount', 'hint') });
  theirs = await make(`${MARKER} ${count}`, south, { base: base('owner', 'amount') });
  relationship = String((await relate(own.id, theirs.id, `${MARKER}_salaries`)).body['id']);
  await submit(theirs.slug, `${MARKER}-1`, { owner: 'o1', amount: 4711 }, south);
  await submit(own.slug, 'o1', { note: 'n' }, north);
});

describe('V7: a derived fact', () => {
  const derived = (expression: string, key = 'leak') => ({
    base: base('owner', 'note', 'amount', 'hint'),
    derived: [{ key, type: 'number', expression }],
  });

  it.each(["sum($NAME, 'amount')", 'count($relations.NAME)', '$NAME', 'filter($NAME, x => x.amount > 1)'])(
    '%s over a hidden relationship is refused as over none',
    async (formula) => {
      const hidden = await put(derived(formula.replaceAll('NAME', `${MARKER}_salaries`)));
      const none = await put(derived(formula.replaceAll('NAME', 'hidden_nonsense')));
      expect(hidden).toMatchObject({ status: 422, body: { code: 'context_invalid' } });
      const lengths = /"(position|length|caret|line|column)":("[^"]*"|\d+),?/g;
      const bare = ({ status, body }: Answer): Answer => ({
        status,
        body: JSON.parse(JSON.stringify(body).replaceAll(lengths, '').replaceAll(',}', '}')) as Answer['body'],
      });
      sameBut(bare(hidden), bare(none), `${MARKER}_salaries`, 'hidden_nonsense');
    },
  );

  it('stays as somebody made it who saw what it reads, and the facts it derives are shown', async () => {
    const schema = derived(`sum($${MARKER}_salaries, 'amount')`, 'total');
    expect((await put(schema, api.adminKey)).status).toBe(200);
    expect((await put({ ...schema, base: [...schema.base, { key: 'more', type: 'string' }] })).status).toBe(200);
    expect((await submit(own.slug, 'o1', { note: 'again' }, north)).body).toMatchObject({ state: { total: 4711 } });
    const moved = { ...schema, derived: [...schema.derived, { ...schema.derived[0], key: 'other' }] };
    expect((await put(moved)).status).toBe(422);
  });
});

describe('V8: a collection of values', () => {
  const limited = (collection: string) => ({
    base: [...base('owner', 'note', 'amount', 'hint'), { key: 'guess', type: 'string', values_only: true, values_collection: collection }], // prettier-ignore
  });
  const write = (name: string, content: string, userGroups: string[]) =>
    api.database.inWorkspace(api.access, (transaction) =>
      saveValues(transaction, [{ name, type: 'string', content }], { newUserGroups: userGroups }),
    );

  it('is one of which the key sees a member; a hidden one and none are the same', async () => {
    await write(`secret${count}.a`, 'TOP', ['south']);
    sameBut(await put(limited(`secret${count}`)), await put(limited(`nothing${count}`)), `secret${count}`, `nothing${count}`);
    expect((await put(limited(`secret${count}`))).status).toBe(422);
  }); // prettier-ignore

  it('has the members that the key saw which named it, whoever submits', async () => {
    await write(`mixed${count}.a`, 'theirs', ['south']);
    await write(`mixed${count}.b`, 'ours', ['north']);
    expect((await put(limited(`mixed${count}`), north, { on_schema_mismatch: 'reject' })).status).toBe(200);
    for (const key of [north, api.adminKey]) {
      expect((await submit(own.slug, 'o1', { guess: 'ours' }, key)).status).toBe(200);
      expect((await submit(own.slug, 'o1', { guess: 'theirs' }, key)).status).toBe(422);
    }
    const batch = await api.call('POST', `/contexts/batch/${own.slug}`, [{ id: 'b', guess: 'theirs' }], north);
    expect(batch.body).toMatchObject({ accepted: 0, rejected: 1 });
  });

  it('has all members for an unrestricted key', async () => {
    await write(`all${count}.a`, 'theirs', ['south']);
    const schema = limited(`all${count}`);
    expect((await put(schema, api.adminKey, { on_schema_mismatch: 'reject' })).status).toBe(200);
    expect((await put({ base: [...schema.base, { key: 'more', type: 'string' }] })).status).toBe(200);
    expect((await submit(own.slug, 'o1', { guess: 'theirs' }, north)).status).toBe(200);
  });
});

describe('V10: include_relations', () => {
  const get = (include: string, key = north) =>
    api.call('GET', `/contexts/${own.slug}/o1?include_relations=${include}`, undefined, key);

  it('shows the relationships that the caller sees, and a hidden one is none', async () => {
    const all = await get('true');
    expect(all).toMatchObject({ status: 200, body: { relations: {} } });
    expectClean(all);
    sameBut(await get(`${MARKER}_salaries`), await get('nonsense'), `${MARKER}_salaries`, 'nonsense');
    expectClean(await get('nonsense'));
    expect((await get('true', api.adminKey)).body).toMatchObject({
      relations: { hidden_salaries: [{ amount: 4711 }] },
    });
  });
});

describe('a hidden rule that is bound to a visible context', () => {
  const inputs = [{ key: 'note', type: 'string' as const }];
  const outputs = [{ key: 'hint', type: 'string' as const }];
  const rows = [{ request: {}, response: { hint: { value: 'decided' } }, settings: {} }];
  let rule: string;
  beforeEach(async () => {
    rule = `${MARKER}-rule-${count}`;
    await api.bindRule(own.slug, rule, { inputs, outputs, rows });
  });

  it('V9: runs, and nothing but the facts that it wrote appears in answers', async () => {
    const single = await submit(own.slug, 'o1', { note: 'x' }, north);
    expect(single.body).toMatchObject({ state: { hint: 'decided' }, triggered: true, cascaded: [] });
    const path = `/contexts/batch/${own.slug}?include=state,executed,execution_results,executions,triggered`;
    const batch = await api.call('POST', path, [{ id: 'b1', note: 'y' }], north);
    expect(batch.body).toMatchObject({ results: [{ state: { hint: 'decided' }, executed: [], executions: {} }] });
    const lines = await fetch(`${api.url}/api/v1${path}`, {
      method: 'POST',
      headers: { 'x-api-key': north, 'content-type': 'application/x-ndjson' },
      body: '{"id":"b2","note":"z"}\n',
    });
    expect(await lines.text()).not.toContain(MARKER);
    const shown = await api.call('GET', `/contexts/${own.slug}/o1`, undefined, north);
    const listed = await api.call('GET', `/contexts/${own.slug}`, undefined, north);
    for (const answer of [single, batch, shown, listed]) expectClean(answer);
    expect((await submit(own.slug, 'o1', { note: 'w' }, api.adminKey)).body).toMatchObject({ cascaded: [{ rule }] });
  });

  it('V11: is not run by name', async () => {
    const solve = (name: string) => api.call('POST', `/contexts/${own.slug}/o1/solve/${name}`, {}, north);
    sameBut(await solve(rule), await solve('nonsense'), rule, 'nonsense');
    expect((await solve(rule)).status).toBe(404);
  });

  it('V9: what is registered for it is not listed', async () => {
    const path = `/contexts/${own.slug}/fresh`;
    await api.call('POST', `${path}/solve/${rule}`, {}, api.adminKey);
    expect((await api.call('GET', `${path}/pending`, undefined, north)).body).toEqual({ pending: [] });
  });

  it('V12: keeps its facts and its context, and is not named', async () => {
    const removal = await put({ base: base('owner', 'note', 'amount') });
    expect(removal).toMatchObject({ status: 409, body: { code: 'context_change_refused' } });
    const deletion = await api.call('DELETE', `/admin/contexts/${own.id}`, undefined, north);
    expect(deletion).toMatchObject({ status: 409, body: { code: 'context_in_use' } });
    for (const answer of [removal, deletion]) expectClean(answer);
  });
});

describe('hidden contexts that read a visible one', () => {
  beforeEach(async () => {
    expect((await relate(theirs.id, own.id, 'owned')).status).toBe(200);
    const schema = { base: base('owner', 'amount'), derived: [{ key: 'sum', expression: "sum($owned, 'amount')" }] };
    expect((await api.call('PUT', `/admin/contexts/${theirs.id}`, { schema }, api.adminKey)).status).toBe(200);
  });

  it('V9: are evaluated again, and left out of the answer', async () => {
    const facts = { owner: `${MARKER}-1`, amount: 5 };
    const single = await submit(own.slug, 'o1', facts, north);
    expect(single.body).toMatchObject({ cascaded: [] });
    const read = await api.call('GET', `/contexts/${theirs.slug}/${MARKER}-1`, undefined, south);
    expect(read.body).toMatchObject({ state: { sum: 5 } });
    const batch = await api.call('POST', `/contexts/batch/${own.slug}?include=status`, [{ id: 'o2', ...facts }], north);
    expect(batch.body).toMatchObject({ cascaded: [] });
    const deleted = await api.call('DELETE', `/contexts/${own.slug}/o2`, undefined, north);
    expect(deleted.body).toMatchObject({ cascaded: [] });
    for (const answer of [batch, deleted]) expectClean(answer);
    expect((await submit(own.slug, 'o1', { amount: 6 }, api.adminKey)).body['cascaded']).toHaveLength(1);
  });

  it('V12: keep what they read, and are not named', async () => {
    const removal = await put({ base: base('note', 'amount', 'hint') });
    expect(removal).toMatchObject({ status: 422, body: { code: 'context_invalid' } });
    const deletion = await api.call('DELETE', `/admin/contexts/${own.id}`, undefined, north);
    expect(deletion).toMatchObject({ status: 409, body: { code: 'context_in_use' } });
    for (const answer of [removal, deletion]) expectClean(answer);
  });
});

it('V1: a hidden relationship of a visible context is neither listed, found nor deleted', async () => {
  expectClean(await api.call('GET', `/admin/contexts/${own.id}`, undefined, north));
  expectClean(await api.call('GET', `/admin/contexts/${own.id}/relationships`, undefined, north));
  const remove = (id: string, key: string) =>
    api.call('DELETE', `/admin/contexts/${own.id}/relationships/${id}`, undefined, key);
  const none = '00000000-0000-4000-8000-000000000000';
  sameBut(await remove(relationship, north), await remove(none, north), relationship, none);
  expect((await remove(relationship, api.adminKey)).status).toBe(200);
});

it('V17: a restricted key takes no other group off a context', async () => {
  await put({ base: base('owner') }, api.adminKey, { user_groups: ['north', 'south'] });
  for (const user_groups of [['north'], ['south']]) {
    expect((await api.call('PUT', `/admin/contexts/${own.id}`, { user_groups }, north)).status).toBeGreaterThan(399);
  }
  const { body } = await api.call('GET', `/admin/contexts/${own.id}`, undefined, api.adminKey);
  expect(body).toMatchObject({ user_groups: ['north', 'south'] });
});

describe('a definition whose definer loses sight of what it reads', () => {
  const total = [{ key: 'total', type: 'number', expression: `sum($salaries, 'amount')` }];
  const schema = { base: base('owner', 'note', 'amount', 'hint'), derived: total };
  let wages: { id: string; slug: string };
  beforeEach(async () => {
    wages = await make(`wages ${count}`, north, { base: base('owner', 'amount') });
    expect((await relate(own.id, wages.id, 'salaries')).status).toBe(200);
    expect((await put(schema)).status).toBe(200);
    const user_groups = ['south'];
    expect((await api.call('PUT', `/admin/contexts/${wages.id}`, { user_groups }, api.adminKey)).status).toBe(200);
  });

  it('V2: goes on reading it, whoever asks', async () => {
    await submit(wages.slug, 'w1', { owner: 'o1', amount: 41 }, south);
    for (const key of [north, api.adminKey])
      expect((await api.call('GET', `/contexts/${own.slug}/o1`, undefined, key)).body).toMatchObject({
        derived: { total: 41 },
      });
    await submit(wages.slug, 'w2', { owner: 'o1', amount: 1 }, south);
    expect((await submit(own.slug, 'o1', { note: 'again' }, north)).body).toMatchObject({ state: { total: 42 } });
  });

  it('V3: keeps it in its place, and names it nowhere else', async () => {
    expect((await put({ ...schema, base: base('owner', 'note', 'amount', 'hint', 'more') })).status).toBe(200);
    const elsewhere = { key: 'twice', type: 'number', expression: `2 * sum($salaries, 'amount')` };
    const refusal = await put({ ...schema, derived: [...total, elsewhere] });
    expect(refusal).toMatchObject({ status: 422, body: { problems: [{ path: '/schema/derived/1/expression' }] } });
    expect((await put({ ...schema, derived: [...total, elsewhere] }, api.adminKey)).status).toBe(200);
  });

  it('V15: shows its text whole, with the names that were written into it', async () => {
    const { body } = await api.call('GET', `/admin/contexts/${own.id}`, undefined, north);
    expect(body).toMatchObject({ schema: { derived: [{ expression: `sum($salaries, 'amount')` }] } });
    expect(JSON.stringify(body)).not.toContain(wages.slug);
  });
});

describe('V13: a name that something hidden has', () => {
  it('gives a new context the next slug that is free', async () => {
    const taken = await make(`${MARKER} ${count}`, north, { base: base('owner') });
    expect(taken.slug).toBe(`${theirs.slug}-2`);
  });

  it.each(['slug', 'relationship'])('is taken for everybody, and its %s tells nothing else', async (kind) => {
    const request = { name: 'x', slug: theirs.slug, identity_fact: 'id', schema: { base: base('owner') } };
    const answer =
      kind === 'slug'
        ? await api.call('POST', '/admin/contexts', request, north)
        : await relate(own.id, own.id, `${MARKER}_salaries`, north);
    expect(answer.status).toBe(409);
    const text = JSON.stringify(answer.body);
    for (const told of [theirs.id, relationship, 'south']) expect(text).not.toContain(told);
  });
});
