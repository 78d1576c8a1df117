import { type Operation, operations } from '@decision/contracts';
import { type Answer, type ObjectsApiUnderTest, startObjectsApi } from './objects-api-under-test';

const NUL = '\u0000';
/** Every operation with a request body, so that new ones are covered. */
const GIVEN_BODIES = operations.filter(({ service, body }) => service === 'objects-api' && body !== undefined);

let api: ObjectsApiUnderTest;
let admin: string;
beforeAll(async () => {
  api = await startObjectsApi();
  admin = await api.makeKey(await api.makeWorkspace('unstorable'), 'admin');
});
afterAll(() => api.stop());

/** The value with U+0000 at one position: in each text that it contains, and in a key of each object. */
const spoiled = (value: unknown): readonly unknown[] => {
  if (typeof value === 'string') return [`${value}${NUL}`];
  if (Array.isArray(value)) {
    return value.flatMap((element, index) =>
      spoiled(element).map((other) => value.map((kept: unknown, at) => (at === index ? other : kept))),
    );
  }
  if (typeof value !== 'object' || value === null) return [];
  return [
    { ...value, [`a${NUL}b`]: 1 },
    ...Object.entries(value).flatMap(([key, member]) => spoiled(member).map((other) => ({ ...value, [key]: other }))),
  ];
};

const pathOf = ({ path, pathParameters }: Operation): string =>
  pathParameters.reduce((url, { name, example }) => url.replace(`{${name}}`, encodeURIComponent(example)), path);

const expectRefused = ({ status, body }: Answer): void => {
  expect([400, 422]).toContain(status);
  expect(body['error']).toMatch(/ holds the character U\+0000, which no text may hold\.$/);
  expect(body['problems']).toMatchObject([{ in: 'body', code: 'unstorable_text' }]);
};

it.each(GIVEN_BODIES.map((operation) => [operation.id, operation] as const))(
  'V19: %s refuses U+0000 in every text and key of its body',
  async (_id, operation) => {
    const bodies = spoiled(operation.body?.example ?? {});
    expect(bodies.length).toBeGreaterThan(0);
    const path = pathOf(operation).replace('/api/v1', '');
    for (const body of bodies) expectRefused(await api.call(admin, operation.method.toUpperCase(), path, body));
  },
);

it('V19: a value and a test of a rule are not stored with U+0000 in their contents, and nothing else of the request is', async () => {
  const write = (method: string, path: string, body: object) => api.call(admin, method, path, body);
  for (const value of [`a${NUL}`, ['a', [`b${NUL}`]], [{ [NUL]: 1 }]]) {
    expectRefused(await write('POST', '/values', { values: { kept: 'x', spoiled: value } }));
    expectRefused(await write('POST', '/values/sync', { collection: 'c', values: { kept: 'x', spoiled: value } }));
  }
  expect((await api.call(admin, 'GET', '/values')).body).toEqual([]);
  const rule = await write('POST', '/admin/rules/import', { rule: { name: 'Kept', slug: 'kept' } });
  expect(rule.status).toBe(200);
  const test = { name: 'Small', request: { a: `x${NUL}` }, response: {} };
  expectRefused(await write('POST', '/admin/rules/kept/tests', test));
  expect((await api.call(admin, 'GET', '/admin/rules/kept/tests')).body).toEqual([]);
  // The six characters of its JSON escape are not U+0000.
  expect(await write('POST', '/values', { values: { spelled: '\\u0000' } })).toMatchObject({ status: 200 });
});
