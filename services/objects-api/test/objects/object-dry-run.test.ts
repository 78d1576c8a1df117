import fc from 'fast-check';
import { type Answer, type ObjectsApiUnderTest, startObjectsApi } from '../objects-api-under-test';

let api: ObjectsApiUnderTest;
let admin: string;
let workspaces = 0;
/** Fixed, since the cases counted at the end must have occurred. */
const SEED = Number(process.env['DRY_RUN_SEED'] ?? 20_260_115);
beforeAll(async () => {
  api = await startObjectsApi();
});
afterAll(() => api.stop());

interface Value {
  readonly id: string;
  readonly name: string;
  readonly value: unknown;
  readonly metadata: unknown;
  readonly archived_at: string | null;
}
interface State {
  readonly objects: Answer['body'];
  readonly values: readonly Value[];
}
const list = async (path: string) => (await api.call(admin, 'GET', path)).body;
const readState = async (): Promise<State> => {
  const [objects, values] = await Promise.all([list('/objects'), list('/values?include=archived')]);
  return { objects, values: values as unknown as Value[] }; // a list, as no page is requested
};
const put = (request: object): Promise<Answer> => api.call(admin, 'PUT', '/objects', request);

/** Differences between two states, counted as the answer of a save counts them. */
const differences = (before: State, after: State) => {
  const known = new Map(before.values.map((value) => [value.id, value]));
  const active = after.values.filter(({ archived_at }) => archived_at === null);
  const wasActive = (id: string): boolean => known.get(id)?.archived_at === null;
  const same = ({ id, name, value, metadata }: Value): boolean => {
    const earlier = known.get(id);
    return (
      JSON.stringify([earlier?.name, earlier?.value, earlier?.metadata]) === JSON.stringify([name, value, metadata])
    );
  };
  const stayed = active.filter(({ id }) => wasActive(id));
  const goneIds = after.values
    .filter(({ id, archived_at }) => archived_at !== null && wasActive(id))
    .map(({ id }) => id);
  return {
    created: active.filter(({ id }) => !known.has(id)).length,
    revived: active.filter(({ id }) => known.has(id) && !wasActive(id)).length,
    updated: stayed.filter((value) => !same(value)).length,
    archived: goneIds.sort(),
  };
};

const members = fc.uniqueArray(fc.constantFrom<string | number | boolean>('x', 'y', 'z', 'x.y', 1, true), {
  maxLength: 4,
});
const enums = fc.dictionary(fc.constantFrom('a', 'b', 'in'), fc.option(members, { nil: undefined }), { maxKeys: 3 });
const contentOf = (flat: Record<string, unknown>, nested: Record<string, unknown>): string => {
  const properties = (given: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(given).map(([key, list]) => [key, list === undefined ? {} : { enum: list }]));
  return JSON.stringify({
    type: 'object',
    properties: { ...properties(flat), deep: { type: 'object', properties: properties(nested) } },
  });
};
const field = fc.constantFrom('a', 'b', 'deep', 'deep.a', 'deep.b', 'in');
const seldom = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
const request = fc.record({
  name: fc.oneof({ weight: 5, arbitrary: fc.constant('Order') }, { weight: 1, arbitrary: fc.constant('Other') }),
  content: fc.oneof(
    { weight: 9, arbitrary: fc.tuple(enums, enums).map(([flat, nested]) => contentOf(flat, nested)) },
    { weight: 1, arbitrary: fc.constantFrom('{}', '{"a": 1}', '{') },
  ),
  user_groups: seldom(fc.subarray(['north', 'south'])),
  field_rename: seldom(fc.record({ from: field, to: field })),
  expected_updated_at: seldom(fc.constantFrom('2020-01-01T00:00:00.000Z', 'as it is')),
});
const step = fc.oneof(
  { weight: 6, arbitrary: request.map((body) => ({ what: 'put' as const, body })) },
  { weight: 1, arbitrary: fc.constantFrom('archive', 'detach').map((fate) => ({ what: 'delete' as const, fate })) },
);

/** Removes the time-dependent parts of an answer. */
const withoutTimes = (body: Record<string, unknown>): unknown =>
  JSON.parse(
    JSON.stringify(body, (key, value: unknown) =>
      ['request_id', 'created_at', 'updated_at'].includes(key) ? undefined : value,
    ),
  );

it(`writes nothing, and its answer is what the same call then does (seed ${SEED})`, async () => {
  const seen = { refused: 0, saved: 0, archived: 0, revived: 0 };
  /** Answers the resulting state. */
  const tryOut = async (
    before: State,
    given: object & { readonly name: string; readonly expected_updated_at?: string | undefined },
  ): Promise<State> => {
    const current = (before.objects as unknown as { name: string; updated_at: string }[]).find(({ name }) => name === given.name); // prettier-ignore
    const asked =
      given.expected_updated_at === 'as it is' ? { ...given, expected_updated_at: current?.updated_at } : given;
    api.announced.length = 0;
    const dry = await put({ ...asked, dry_run: true });
    expect(api.announced).toEqual([]);
    expect(await readState()).toEqual(before);
    const real = await put(asked);
    expect(dry.status).toBe(real.status);
    const after = await readState();
    if (real.status !== 200) {
      seen.refused += 1;
      expect(withoutTimes(dry.body)).toEqual(withoutTimes(real.body));
      expect(after).toEqual(before);
      return after;
    }
    const { would_sync, would_archive, ...planned } = dry.body['values'] as Record<string, number> & { would_archive: { id: string }[] }; // prettier-ignore
    const done = differences(before, after);
    expect(real.body['values']).toEqual(planned);
    expect(planned).toMatchObject({ synced: would_sync, archived: would_archive.length });
    expect(planned).toMatchObject({ created: done.created, revived: done.revived, updated: done.updated });
    expect(would_archive.map(({ id }) => id).sort()).toEqual(done.archived);
    const objectOf = ({ body }: Answer) => {
      const { id, ...rest } = withoutTimes(body['object'] as Record<string, unknown>) as { id: string };
      return body['created'] === true ? rest : { id, ...rest };
    };
    expect(objectOf(dry)).toEqual(objectOf(real));
    expect(dry.body).toMatchObject({ dry_run: true, created: real.body['created'] });
    seen.saved += 1;
    seen.archived += done.archived.length;
    seen.revived += done.revived;
    return after;
  };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
      admin = await api.makeKey(await api.makeWorkspace(`w${(workspaces += 1)}`), 'admin');
      let state = await readState();
      for (const given of steps) {
        if (given.what === 'put') state = await tryOut(state, given.body);
        else {
          await api.call(admin, 'DELETE', `/objects/Order?values=${given.fate}`);
          state = await readState();
        }
      }
    }),
    { numRuns: 40, seed: SEED },
  );
  // The property is meaningful only if all of these cases have occurred.
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0);
}, 240_000);
