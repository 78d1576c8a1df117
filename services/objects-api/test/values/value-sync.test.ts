import fc from 'fast-check';
import { type Answer, type ObjectsApiUnderTest, startObjectsApi } from '../objects-api-under-test';

let api: ObjectsApiUnderTest;
let workspaceId: string;
let admin: string;
let workspaces = 0;
beforeAll(async () => {
  api = await startObjectsApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  workspaceId = await api.makeWorkspace(`w${(workspaces += 1)}`);
  admin = await api.makeKey(workspaceId, 'admin');
  api.announced.length = 0;
});

const sync = (request: object, key = admin): Promise<Answer> =>
  api.call(key, 'POST', '/values/sync', { collection: 'countries', ...request });
interface Listed {
  readonly id: string;
  readonly name: string;
  readonly value: unknown;
  readonly archived_at: string | null;
  readonly updated_at: string;
  readonly metadata: object;
}
const list = async (query = '?include=archived'): Promise<readonly Listed[]> =>
  ((await api.call(admin, 'GET', `/values${query}`)).body as unknown as Listed[]).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  );
const active = async (): Promise<Record<string, unknown>> =>
  Object.fromEntries((await list('')).map(({ name, value }) => [name, value]));

describe('a synchronisation in one request', () => {
  it('makes the collection equal to the request, and leaves everything else', async () => {
    await api.call(admin, 'POST', '/values', {
      values: { countries: { DE: 'Germany', XX: 'Nowhere' }, other: 1, countriesX: 2 },
    });
    const [, , germany] = await list();
    const answer = await sync({
      values: { DE: 'Deutschland', FR: { name: 'France' } },
      metadata_by_name: { DE: { iso: 276 } },
    });
    expect(answer).toMatchObject({
      status: 200,
      body: { collection: 'countries', swept: true, already_completed: false, dry_run: false, created: 1, updated: 1, unchanged: 0, processed: 2, archived: 1, deleted: 0, blocked: [], errors: [] }, // prettier-ignore
    });
    expect(await active()).toEqual({
      'countries.DE': 'Deutschland',
      'countries.FR.name': 'France',
      countriesX: 2,
      other: 1,
    });
    expect((await list()).find(({ name }) => name === 'countries.DE')).toMatchObject({ metadata: { iso: 276 } });
    expect(germany).toBeDefined();
  });

  it('again changes nothing and announces nothing; a member that comes back has its identity', async () => {
    await sync({ values: { DE: 'Germany', FR: 'France' } });
    const before = await list();
    api.announced.length = 0;
    expect((await sync({ values: { FR: 'France', DE: 'Germany' } })).body).toMatchObject({
      unchanged: 2,
      updated: 0,
      archived: 0,
    });
    expect(await list()).toEqual(before);
    expect(api.announced).toEqual([]);
    await sync({ values: { DE: 'Germany' } });
    expect(api.announced).toEqual([['value', [`values:${workspaceId}`]]]);
    await sync({ values: { DE: 'Germany', FR: 'France' } });
    expect((await list()).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  });

  it('deletes for good if it is asked to, but archives what something uses', async () => {
    await sync({ values: { DE: 'Germany', FR: 'France', IT: 'Italy' } });
    const byName = new Map((await list()).map((value) => [value.name, value.id]));
    await api.call(admin, 'POST', '/values', { values: { big: [{ $ref: 'countries.FR' }] } });
    await api.call(admin, 'POST', '/admin/rules/import', {
      rule: {
        requestSchema: [{ key: 'c', type: 'string' }],
        responseSchema: [{ key: 'out', type: 'string' }],
        conditions: [{ request: {}, response: { out: { value: { $ref: 'countries.DE' } } } }],
      },
    });
    expect((await sync({ permanently_delete: true })).body).toMatchObject({
      deleted: 1,
      archived: 2,
      blocked: [
        { id: byName.get('countries.DE'), name: 'countries.DE', reason: 'Rules use it.', action: 'archived' },
        { id: byName.get('countries.FR'), name: 'countries.FR', reason: 'Lists refer to it.', action: 'archived' },
      ],
    });
    expect((await list()).map(({ name }) => name)).toEqual(['big', 'countries.DE', 'countries.FR']);
  });

  it('tells which members cannot be stored, stores the others, and archives none of that name', async () => {
    await put('Order', 'countries.kind', ['a']);
    await sync({ values: { DE: 'Germany' } });
    const { body } = await sync({
      values: { DE: null, FR: 'France', kind: { a: 'mine' }, bad: [{ a: { $ref: 'x' } }] },
    });
    expect(body).toMatchObject({ created: 1, updated: 0, processed: 4, archived: 0 });
    expect((body['errors'] as { name: string }[]).map(({ name }) => name).sort()).toEqual(['countries.DE', 'countries.bad', 'countries.kind.a']); // prettier-ignore
    expect(await active()).toMatchObject({
      'countries.DE': 'Germany',
      'countries.FR': 'France',
      'countries.kind.a': 'a',
    });
  });

  it('takes nothing that a key of another group has', async () => {
    const [north, south] = [await api.makeKey(workspaceId, 'developer', ['north']), await api.makeKey(workspaceId, 'developer', ['south'])]; // prettier-ignore
    expect((await sync({ values: { DE: 1 }, sync_id: 'x' }, north)).body).toMatchObject({ created: 1 });
    expect((await sync({ values: { DE: 2, FR: 3 } }, south)).body).toMatchObject({ created: 1, archived: 0, errors: [{ name: 'countries.DE' }] }); // prettier-ignore
    expect(await sync({ values: { DE: 2 }, sync_id: 'x' }, south)).toMatchObject({ status: 409, body: { code: 'value_sync_superseded' } }); // prettier-ignore
    expect(await sync({ values: { IT: 2 }, user_groups: ['north'] }, south)).toMatchObject({ status: 403 });
    expect(await active()).toEqual({ 'countries.DE': 1, 'countries.FR': 3 });
  });

  it.each<[string, object, number]>([
    ['no sync_id for a chunk', { values: {}, complete: false }, 400],
    ['a collection of an empty part', { collection: 'a..b' }, 422],
    ['an unknown field', { nonsense: 1 }, 400],
    ['an empty sync_id', { sync_id: '' }, 400],
    ['more than a hundred faults', { values: Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`m${index}`, null])) }, 422], // prettier-ignore
  ])('is refused with %s', async (_what, request, status) => {
    expect((await sync(request)).status).toBe(status);
    expect(await list()).toEqual([]);
  });

  it('is refused to viewers', async () => {
    expect(await sync({ values: { DE: 1 } }, await api.makeKey(workspaceId, 'viewer'))).toMatchObject({ status: 403 });
  });
});

const put = (name: string, path: string, members: readonly string[]): Promise<Answer> => {
  const content = path.split('.').reduceRight<object>((inner, part) => ({ type: 'object', properties: { [part]: inner } }), { enum: members }); // prettier-ignore
  return api.call(admin, 'PUT', '/objects', { name, content: JSON.stringify(content) });
};

describe('a synchronisation in chunks', () => {
  it('sweeps only when it is complete, and what any chunk brought stays', async () => {
    await sync({ values: { old: 1, kept: 2 } });
    expect((await sync({ sync_id: 'run', values: { a: 1 } })).body).toMatchObject({
      swept: false,
      created: 1,
      archived: 0,
      sync_id: 'run',
    });
    await sync({ sync_id: 'run', values: { kept: 2 }, complete: false });
    expect(Object.keys(await active())).toHaveLength(3);
    expect((await sync({ sync_id: 'run', values: { b: 1 }, complete: true })).body).toMatchObject({
      swept: true,
      archived: 1,
    });
    expect(Object.keys(await active()).sort()).toEqual(['countries.a', 'countries.b', 'countries.kept']);
  });

  it('does nothing more once it was completed', async () => {
    await sync({ sync_id: 'run', values: { a: 1 }, complete: true });
    await sync({ values: { a: 2 } });
    const before = await list();
    expect((await sync({ sync_id: 'run', values: { a: 1 }, complete: true })).body).toMatchObject({ already_completed: true, swept: false, updated: 0 }); // prettier-ignore
    expect(await list()).toEqual(before);
  });

  it('ends where a later one of the collection begins, and does not touch that of another', async () => {
    await sync({ sync_id: 'first', values: { a: 1 } });
    await sync({ sync_id: 'other', values: { a: 1 }, collection: 'cities' });
    await sync({ sync_id: 'second', values: { b: 1 } });
    expect(await sync({ sync_id: 'first', values: { c: 1 }, complete: true })).toMatchObject({ status: 409, body: { code: 'value_sync_superseded' } }); // prettier-ignore
    expect(await sync({ sync_id: 'other', complete: true, collection: 'cities' })).toMatchObject({ status: 200 });
    expect((await sync({ sync_id: 'second', complete: true })).body).toMatchObject({ archived: 1 });
    expect(await active()).toEqual({ 'cities.a': 1, 'countries.b': 1 });
  });

  it('leaves no trace when it runs dry, in values and in runs', async () => {
    await sync({ values: { old: 1 } });
    const before = await list();
    expect((await sync({ sync_id: 'run', values: { a: 1 }, complete: true, dry_run: true })).body).toMatchObject({ dry_run: true, swept: true, created: 1, archived: 1 }); // prettier-ignore
    expect(await list()).toEqual(before);
    expect((await sync({ sync_id: 'run', values: { a: 1 }, complete: true })).body).toMatchObject({ already_completed: false, created: 1 }); // prettier-ignore
  });

  it('whatever is repeated, in whatever order, ends with what the chunks hold; a dry run tells it beforehand', async () => {
    let runs = 0;
    const chunk = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.constantFrom(1, 'x', true), {
      maxKeys: 3,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(chunk, { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat(3), { maxLength: 4 }),
        async (chunks, again) => {
          const sync_id = `property ${(runs += 1)}`;
          // The last writer of a name wins, so a repeated chunk must agree with later ones.
          const merged: Record<string, unknown> = {};
          for (const part of chunks) for (const [name, value] of Object.entries(part)) merged[name] ??= value;
          const parts = chunks.map((part) => Object.fromEntries(Object.keys(part).map((name) => [name, merged[name]])));
          const order = [...parts.keys(), ...again.filter((index) => index < parts.length)];
          for (const index of order) await sync({ sync_id, values: parts[index] });
          const before = await list();
          const dry = await sync({ sync_id, complete: true, dry_run: true });
          expect(await list()).toEqual(before);
          const real = await sync({ sync_id, complete: true });
          expect({ ...dry.body, dry_run: false }).toEqual(real.body);
          expect(await active()).toEqual(Object.fromEntries(Object.entries(merged).map(([name, value]) => [`countries.${name}`, value]))); // prettier-ignore
        },
      ),
      { numRuns: 25 },
    );
  }, 180_000);

  it('loses nothing when it is interrupted within a chunk', async () => {
    await sync({ values: { old: 1 } });
    await sync({ sync_id: 'run', values: { a: 1 } });
    await expect(
      api.database.inWorkspace({ workspaceId, userGroups: undefined }, async (transaction) => {
        await transaction.raw(
          `insert into value_sync_members (sync, name) select id, 'countries.lost' from value_syncs where sync_id = 'run'`,
        );
        throw new Error('cut off');
      }),
    ).rejects.toThrow('cut off');
    expect(await active()).toEqual({ 'countries.old': 1, 'countries.a': 1 });
    expect((await sync({ sync_id: 'run', values: { a: 1 } })).body).toMatchObject({ unchanged: 1, created: 0 });
    expect((await sync({ sync_id: 'run', values: { b: 1 }, complete: true })).body).toMatchObject({ archived: 1 });
    expect(await active()).toEqual({ 'countries.a': 1, 'countries.b': 1 });
  });

  it('holds all of many chunks that arrive at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => sync({ sync_id: 'run', values: { shared: 0, [`m${index}`]: index } })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    expect((await sync({ sync_id: 'run', complete: true })).body).toMatchObject({ archived: 0 });
    expect(Object.keys(await active())).toHaveLength(9);
  });

  it('takes a hundred thousand members', async () => {
    const size = 20_000;
    for (let part = 0; part < 5; part += 1) {
      const values = Object.fromEntries(Array.from({ length: size }, (_, index) => [`m${part * size + index}`, index]));
      expect((await sync({ sync_id: 'large', values, complete: part === 4 })).body).toMatchObject({
        created: size,
        archived: 0,
      });
    }
    expect((await sync({ sync_id: 'next', values: { m1: 1 }, complete: true })).body).toMatchObject({
      unchanged: 1,
      archived: 5 * size - 1,
    });
  }, 240_000);
});
