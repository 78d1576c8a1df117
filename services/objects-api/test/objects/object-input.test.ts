import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type Answer, type ObjectsApiUnderTest, startObjectsApi } from '../objects-api-under-test';

let api: ObjectsApiUnderTest;
let admin: string;
let workspaces = 0;
beforeAll(async () => {
  api = await startObjectsApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  admin = await api.makeKey(await api.makeWorkspace(`w${(workspaces += 1)}`), 'admin');
});

const put = (content: unknown, name = 'Order'): Promise<Answer> =>
  api.call(admin, 'PUT', '/objects', {
    name,
    content: typeof content === 'string' ? content : JSON.stringify(content),
  });
const schema = (properties: object, more: object = {}): object => ({ type: 'object', properties, ...more });
const list = async (path: string) => (await api.call(admin, 'GET', path)).body as unknown as { name: string }[];

it('a reference to an address is refused, and nobody is asked', async () => {
  let asked = 0;
  const server = createServer((_request, response) => {
    asked += 1;
    response.end('{"enum":["fetched"]}');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  for (const $ref of [
    `http://127.0.0.1:${port}/s.json`,
    `//127.0.0.1:${port}/s.json`,
    's.json',
    'file:///etc/passwd',
  ]) {
    const answer = await put(schema({ a: { $ref } }, { $id: `http://127.0.0.1:${port}/`, $schema: `http://127.0.0.1:${port}/` })); // prettier-ignore
    expect(answer).toMatchObject({ status: 422, body: { code: 'object_invalid', problems: [{ path: '/properties/a/$ref' }] } }); // prettier-ignore
  }
  // Keywords that only name the schema are kept, and are not fetched either.
  expect(await put(schema({}, { $id: `http://127.0.0.1:${port}/`, $schema: `http://127.0.0.1:${port}/` }))).toMatchObject({ status: 200 }); // prettier-ignore
  await new Promise((closed) => server.close(closed));
  expect(asked).toBe(0);
});

const bombs: readonly (readonly [string, () => unknown])[] = [
  ['references that multiply', () => schema({ a: { $ref: '#/$defs/d40' } }, { $defs: fan(40, (inner) => ({ anyOf: [inner, inner, inner] })) })],
  ['properties that multiply', () => schema({ a: { $ref: '#/$defs/d30' } }, { $defs: fan(30, (inner) => schema({ l: inner, r: inner })) })],
  ['everything that refers to everything', () => schema({ a: { $ref: '#/$defs/d0' } }, { $defs: complete(14) })],
  ['one long enum that many fields have', () => schema(Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`f${index}`, { $ref: '#/$defs/e' }])), { $defs: { e: { enum: Array.from({ length: 20_000 }, (_, index) => index) } } })],
  ['a chain of references', () => schema({ a: { $ref: '#/$defs/d500' } }, { $defs: fan(500, (inner) => inner) })],
  ['brackets within brackets', () => '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000)],
  ['fields by the ten thousand', () => schema(Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`f${index}`, {}])))],
]; // prettier-ignore
const fan = (levels: number, join: (inner: object) => object): Record<string, object> =>
  Object.fromEntries(
    Array.from({ length: levels + 1 }, (_, level) => [
      `d${level}`,
      level === 0 ? { enum: ['x'] } : join({ $ref: `#/$defs/d${level - 1}` }),
    ]),
  );
const complete = (size: number): Record<string, object> => {
  const all = Array.from({ length: size }, (_, index) => ({ $ref: `#/$defs/d${index}` }));
  return Object.fromEntries(all.map((_, index) => [`d${index}`, { anyOf: all }]));
};

it.each(bombs)('%s are refused, and nothing is left behind', async (_what, bomb) => {
  const answer = await put(bomb());
  expect(answer).toMatchObject({ status: 422, body: { code: 'object_invalid', problems: [expect.anything()] } });
  expect(JSON.stringify(answer.body).length).toBeLessThan(5_000);
  expect(await list('/objects')).toEqual([]);
  expect(await list('/values?include=archived')).toEqual([]);
});

it('schemas that refer to themselves are read once', async () => {
  const tree = schema({ kind: { enum: ['leaf'] }, left: { $ref: '#/$defs/tree' }, right: { $ref: '#' } });
  expect(await put(schema({ root: { $ref: '#/$defs/tree' } }, { $defs: { tree } }))).toMatchObject({ status: 200 });
  expect((await list('/values')).map(({ name }) => name).sort()).toEqual(['root.kind', 'root.kind.leaf']);
});

it('content beyond the limit of the body is 413 and names the limit', async () => {
  expect(await put(JSON.stringify({ a: 'x'.repeat(10_000_000) }))).toMatchObject({
    status: 413,
    body: { code: 'payload_too_large', limit_bytes: 1_000_000 },
  });
});

describe('names of odd Unicode', () => {
  const [composed, decomposed] = ['caf\u00e9', 'cafe\u0301'];

  it('are NFC in the names of values, and as given in content and in the value', async () => {
    const content = JSON.stringify(schema({ [decomposed]: { enum: [decomposed] } }));
    expect((await put(content)).body).toMatchObject({
      object: { content, parsed_fields: [{ key: decomposed, values: composed }] },
    });
    expect(await list(`/values?name=${encodeURIComponent(`${decomposed}.${decomposed}`)}`)).toMatchObject([
      { name: `${composed}.${composed}`, value: decomposed },
    ]);
  });

  it('collide if they differ in composition alone', async () => {
    for (const properties of [
      { a: { enum: [composed, decomposed] } },
      { [composed]: { enum: [1] }, [decomposed]: { enum: [1] } },
    ]) {
      const answer = await put(schema(properties));
      expect(answer).toMatchObject({ status: 422, body: { code: 'object_invalid' } });
      expect(answer.body['error']).toMatch(/^Two values would be named/);
    }
  });

  it('are apart if they only look alike, and may be long, right to left or of emoji', async () => {
    const members = ['K', '\u212a', 'a\u200db', 'ab', '\u05d0', '\u{1f468}\u200d\u{1f469}', 'x'.repeat(500), ' ', ''];
    // The Kelvin sign is K in NFC.
    expect(await put(schema({ a: { enum: members } }))).toMatchObject({ status: 422 });
    expect(await put(schema({ a: { enum: members.filter((member) => member !== '\u212a') } }))).toMatchObject({
      body: { values: { created: members.length } },
    });
  });

  it.each(['\u0000', '\n', '\u007f', 'x'.repeat(600)])(
    'that cannot be shown or are too long are refused: %j',
    async (member) => {
      expect(await put(schema({ a: { enum: [member] } }))).toMatchObject({ status: 422 });
    },
  );
});
