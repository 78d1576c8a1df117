import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { type ObjectsApiUnderTest, startObjectsApi } from './objects-api-under-test';

/** Requests for each call of the document; `npm run test:long` sends four times as many. */
const REQUESTS_PER_CALL = process.env['TEST_LONG'] === '1' ? 60 : 15;
/** Fixed, since the statuses checked at the end must have occurred. */
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_260_115);

let api: ObjectsApiUnderTest;
let admin: string;
let calls: readonly Call[];

type Schema = Readonly<Record<string, unknown>>;

/** One call of the document. */
interface Call {
  readonly path: string;
  readonly method: string;
  readonly query: readonly { readonly name: string; readonly schema: Schema }[];
  readonly inPath: Readonly<Record<string, string>>;
  readonly body: { readonly schema: Schema; readonly example: unknown } | undefined;
  readonly statuses: ReadonlySet<number>;
}

interface Described {
  readonly parameters: readonly { name: string; in: string; schema: Schema; example?: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: Schema; example: unknown }>> };
  readonly responses: Readonly<Record<string, unknown>>;
}

let components: Readonly<Record<string, Schema>>;

beforeAll(async () => {
  api = await startObjectsApi();
  admin = await api.makeKey(await api.makeWorkspace('fuzz'), 'admin');
  const document = (await (await fetch(`${api.baseUrl}/openapi.json`)).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
    readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  };
  components = document.components.schemas;
  calls = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters, requestBody, responses }]) => ({
      path,
      method: method.toUpperCase(),
      query: parameters.filter(({ in: place }) => place === 'query'),
      inPath: Object.fromEntries(
        parameters.filter(({ in: place }) => place === 'path').map(({ name, example = 'x' }) => [name, example]),
      ),
      body: requestBody?.content['application/json'],
      statuses: new Set(Object.keys(responses).map(Number)),
    })),
  );
});
afterAll(() => api.stop());

const odd = fc.constantFrom(
  ...[
    '__proto__',
    'constructor',
    '\u0000',
    '\ud800',
    'ünï',
    '%',
    '..',
    'a b',
    '',
    ' ',
    '0',
    '-1',
    '1e9',
    '9'.repeat(40),
  ],
  ...['x'.repeat(300), "'; drop table rules; --", '${7*7}', '<b>', '{"$ref": "x"}', '\u202e', '2026-02-30', 'NaN'],
);
const text = fc.oneof(odd, fc.string({ unit: 'binary', maxLength: 40 }), fc.uuid());
const anything = fc.oneof(fc.jsonValue({ maxDepth: 4 }), text, fc.double(), fc.constant(null));

const MAX_DEPTH = 6;

/** Values near a schema: mostly of its shape, sometimes anything. */
const near = (schema: Schema, depth = 0): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 8, arbitrary: like(schema, depth) }, { weight: 1, arbitrary: anything });

const like = (schema: Schema, depth: number): fc.Arbitrary<unknown> => {
  if (depth > MAX_DEPTH) return anything;
  const next = (part: unknown): fc.Arbitrary<unknown> => near(part as Schema, depth + 1); // a schema within a schema
  const reference = schema['$ref'];
  if (typeof reference === 'string') return like(components[reference.split('/').at(-1) ?? ''] ?? {}, depth + 1);
  const options = (schema['anyOf'] ?? schema['oneOf']) as readonly Schema[] | undefined; // lists of schemas by definition
  if (options) return fc.oneof(...options.map((option) => like(option, depth + 1)));
  if (Array.isArray(schema['enum'])) return fc.constantFrom<unknown>(...(schema['enum'] as unknown[])); // likewise
  if ('const' in schema) return fc.constant(schema['const']);
  switch (schema['type']) {
    case 'object':
      return likeObject(schema, next);
    case 'array':
      return fc.array(next(schema['items'] ?? {}), { maxLength: 4 });
    case 'string':
      return likeString(schema);
    case 'integer':
      return fc.oneof(fc.integer(), fc.constantFrom(0, -1, 2 ** 53, 1.5));
    case 'number':
      return fc.oneof(fc.double(), fc.constantFrom(0, -0, 1e308));
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return anything;
  }
};

const likeObject = (schema: Schema, next: (part: unknown) => fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, Schema>>; // by definition
  const required = (schema['required'] ?? []) as readonly string[]; // likewise
  const known = fc.record(Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, next(part)])), {
    requiredKeys: [...required].filter((name) => name in properties),
  });
  const patterns = Object.values((schema['patternProperties'] ?? {}) as Readonly<Record<string, Schema>>); // likewise
  const free = patterns[0] ?? (schema['additionalProperties'] === false ? undefined : {});
  const more = free === undefined ? fc.constant({}) : fc.dictionary(text, next(free), { maxKeys: 3 });
  return fc
    .tuple(known, more, fc.boolean())
    .map(([object, others, strict]) => (strict ? object : { ...others, ...object }));
};

const likeString = (schema: Schema): fc.Arbitrary<string> => {
  if (schema['format'] === 'uuid') return fc.oneof(fc.uuid(), text);
  if (schema['format'] === 'date-time') return fc.oneof(fc.constantFrom('2026-01-01T00:00:00Z', '9999-12-31T23:59:60Z', '0000-01-01T00:00:00Z', '2026-06-31T00:00:00+14:00'), text); // prettier-ignore
  const examples = schema['examples'];
  return fc.oneof(
    text,
    fc.constantFrom('name', 'slug', 'a@b.c', '5', ...(Array.isArray(examples) ? examples.map(String) : [])),
  );
};

/** Texts of bodies: near to the schema, near to the example, and broken. */
const bodyOf = ({ schema, example }: NonNullable<Call['body']>): fc.Arbitrary<string | Buffer> => {
  const printed = fc.oneof({ weight: 4, arbitrary: near(schema) }, { weight: 1, arbitrary: fc.constant(example) }).map((shown) => JSON.stringify(shown) ?? ''); // prettier-ignore
  const whole = JSON.stringify(example);
  return fc.oneof(
    { weight: 12, arbitrary: printed },
    { weight: 1, arbitrary: fc.tuple(printed, fc.nat(200)).map(([shown, end]) => shown.slice(0, end)) },
    { weight: 1, arbitrary: printed.map((shown) => shown.replace(/\d+/, '123456789012345678901234567890')) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
    { weight: 1, arbitrary: printed.map((shown) => gzipSync(shown)) },
    { weight: 1, arbitrary: fc.nat(12_000).map((depth) => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)) },
    { weight: 1, arbitrary: fc.nat(whole.length).map((at) => `${whole.slice(0, at)}\u0000${whole.slice(at)}`) },
    { weight: 1, arbitrary: fc.constant(`{"a":1,"a":2,${whole.slice(1)}`) },
  );
};

const headersOf = fc.record(
  {
    'content-type': fc.oneof({ weight: 8, arbitrary: fc.constant('application/json') }, fc.constantFrom('text/plain', ';;', 'application/json; charset=utf-16')), // prettier-ignore
    'content-encoding': fc.constantFrom('gzip', 'identity', 'zip'),
    'x-request-id': fc.constantFrom('a', 'x'.repeat(500), '"><'),
    'x-forwarded-for': fc.constantFrom('203.0.113.9', 'x', ',,,', '::1'),
    'x-user-id': fc.constant('admin'),
  },
  { requiredKeys: [] },
);

const requestOf = (call: Call): fc.Arbitrary<FuzzRequest> =>
  fc.record({
    path: fc.tuple(...Object.keys(call.inPath).map(() => fc.option(text))),
    query: fc.record(
      Object.fromEntries(call.query.map(({ name, schema }) => [name, fc.oneof(like(schema, 0), text).map(String)])),
      { requiredKeys: [] },
    ),
    extra: fc.option(text, { freq: 12 }),
    method: fc.oneof({ weight: 20, arbitrary: fc.constant(call.method) }, fc.constantFrom('GET', 'PUT', 'DELETE', 'PATCH', 'HEAD')), // prettier-ignore
    headers: fc.oneof({ weight: 2, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: headersOf }),
    body: call.body === undefined ? fc.constant(undefined) : bodyOf(call.body),
  });

/** A path is text; invalid text becomes the replacement character. */
const encode = (shown: string): string => encodeURIComponent(Buffer.from(shown).toString());

interface FuzzRequest {
  /** One for each parameter of the path; null or empty: the parameter's example. */
  readonly path: readonly (string | null)[];
  readonly query: Readonly<Record<string, string | undefined>>;
  /** An unknown parameter. */
  readonly extra: string | null;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | undefined;
}

const send = async (call: Call, request: FuzzRequest): Promise<Response> => {
  const { method, headers, body } = request;
  const sent = method === 'GET' || method === 'HEAD' ? undefined : body;
  return fetch(toUrl(call, request), {
    method,
    headers: { 'x-api-key': admin, ...(sent === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(sent === undefined ? {} : { body: sent as string }), // text or bytes, which fetch takes both
    signal: AbortSignal.timeout(30_000),
  });
};

const toUrl = (call: Call, { path, query, extra }: FuzzRequest): string => {
  const segments = [...path];
  const filled = call.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encode(segments.shift() || call.inPath[name] || 'x'),
  );
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encode(value)}`],
  );
  return `${api.baseUrl}${filled}?${[...pairs, ...(extra === null ? [] : [`${encode(extra)}=1`])].join('&')}`;
};

it(`no call of the document ever answers 5xx, or a status that it does not name, to bad input (seed ${SEED})`, async () => {
  const statuses = new Map<number, number>();
  for (const call of calls) {
    await fc.assert(
      fc.asyncProperty(requestOf(call), async (request) => {
        const response = await send(call, request);
        const answer = await response.text();
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
        expect({ status: response.status, answer: response.status >= 500 ? answer : '' }).toEqual({ status: expect.any(Number), answer: '' }); // prettier-ignore
        expect(response.status).toBeLessThan(500);
        if (request.method === call.method && response.status !== 404)
          expect([...call.statuses]).toContain(response.status);
        if (response.status < 400 || request.method === 'HEAD') return;
        expect(JSON.parse(answer)).toMatchObject({ error: expect.any(String), code: expect.any(String), request_id: expect.any(String) }); // prettier-ignore
      }),
      { numRuns: REQUESTS_PER_CALL, seed: SEED },
    );
  }
  // The fuzz reaches the handlers: some requests succeed, others are refused in several ways.
  for (const status of [200, 201, 400, 404, 405, 415, 422]) expect([...statuses.keys()]).toContain(status);
  expect((await api.call(admin, 'GET', '/admin/rules/list')).status).toBe(200);
}, 300_000);

it('every call that asks for a key refuses to answer without one', async () => {
  for (const call of calls) {
    const response = await fetch(`${api.baseUrl}${call.path.replace(/\{\w+\}/g, 'x')}`, { method: call.method });
    await response.arrayBuffer();
    const open = call.path.startsWith('/api/v1/invitations') || !call.path.startsWith('/api/v1');
    if (!open) expect({ path: call.path, status: response.status }).toEqual({ path: call.path, status: 401 });
    else expect(response.status).not.toBe(401);
  }
});
