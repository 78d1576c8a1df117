import { type Answer, type ObjectsApiUnderTest, startObjectsApi } from '../objects-api-under-test';

jest.setTimeout(360_000);

let api: ObjectsApiUnderTest;
let admin: string;
beforeAll(async () => {
  api = await startObjectsApi({ bodyLimitBytes: 64 * 1024 * 1024 });
  admin = await api.makeKey(await api.makeWorkspace('large'), 'admin');
});
afterAll(() => api.stop());

const TEN_MB = 10_000_000;
const put = (name: string, content: object | string): Promise<Answer> =>
  api.call(admin, 'PUT', '/objects', {
    name,
    content: typeof content === 'string' ? content : JSON.stringify(content),
  });
const many = <T>(length: number, make: (index: number) => T): T[] => Array.from({ length }, (_, index) => make(index));
const schema = (properties: object, more: object = {}): object => ({ type: 'object', properties, ...more });

/** Processor time of this process, ms: unlike the time of day it does not grow while other processes run. */
const processorMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/** Longest time, ms, that one task blocked the event loop of this process, which also runs the service, during the work. */
const longestTurn = async (work: () => Promise<void>): Promise<number> => {
  let longest = 0;
  let last = processorMs();
  const timer = setInterval(() => {
    const now = processorMs();
    longest = Math.max(longest, now - last);
    last = now;
  }, 5);
  await work();
  clearInterval(timer);
  return longest;
};

/** Contents of ten million characters and more, each with its expected outcome. Time limits are ten times what a quiet machine needs. */
const CONTENTS: readonly (readonly [string, () => object, number])[] = [
  ['one long text', () => ({ a: 'x'.repeat(TEN_MB) }), 200],
  ['fields with long descriptions', () => schema(Object.fromEntries(many(5_000, (index) => [`f${index}`, { type: 'string', description: 'd'.repeat(2_000) }]))), 200],
  ['definitions that nothing refers to', () => schema({ a: { type: 'string' } }, { $defs: Object.fromEntries(many(300_000, (index) => [`unused-${index}`, { type: 'string' }])) }), 200],
  ['a list of more elements than are looked at', () => ({ a: many(1_000_000, (index) => `x${index}`) }), 422],
  ['an enum of more members than are values', () => schema({ a: { enum: many(600_000, (index) => `member-${index}`) } }), 422],
]; // prettier-ignore

it.each(CONTENTS)('%s of ten megabytes is saved whole or refused with the limit', async (what, make, status) => {
  const content = JSON.stringify(make());
  expect(content.length).toBeGreaterThan(TEN_MB * 0.9);
  const longest = await longestTurn(async () => {
    const answer = await put(what, content);
    const { status: found, body } = answer;
    expect({ found, code: body['code'], error: body['error'] }).toMatchObject({ found: status });
    if (status === 200) expect((await api.call(admin, 'GET', `/objects/${encodeURIComponent(what)}`)).body).toMatchObject({ content }); // prettier-ignore
    else expect(body).toMatchObject({ code: 'object_invalid', problems: [{ message: expect.stringMatching(/more than/) }] }); // prettier-ignore
  });
  expect(longest).toBeLessThan(10_000);
});

it('content above the largest that is kept is 413 with the limit', async () => {
  const answer = await put('too large', { a: 'x'.repeat(21 * 1024 * 1024) });
  expect(answer).toMatchObject({ status: 413, body: { code: 'payload_too_large', limit_bytes: 20 * 1024 * 1024 } });
});

/** Inputs that would take far more time than their size suggests, if reading were not bounded. */
const BOMBS: readonly (readonly [string, () => object, number])[] = [
  ['a oneOf of 30,000 constants is read', () => schema({ a: { oneOf: many(30_000, (index) => ({ const: index })) } }), 200],
  ['a oneOf of 60,000 constants is refused', () => schema({ b: { oneOf: many(60_000, (index) => ({ const: index })) } }), 422],
  ['a long enum beside many constants is refused', () => schema({ c: { anyOf: [{ enum: many(90_000, (index) => index) }, ...many(30_000, (index) => ({ const: `s${index}` }))] } }), 422],
  ['names that are required by every field are refused', () => schema(Object.fromEntries(many(3_000, (index) => [`f${index}`, { $ref: '#/$defs/r' }])), { $defs: { r: { required: many(50_000, String), properties: {} } } }), 422],
  ['fields of 5,000 alternatives come together', () => ({ type: 'object', oneOf: many(5_000, (index) => schema({ d: { enum: [index, index + 1] } })) }), 200],
]; // prettier-ignore

it.each(BOMBS)('%s, and nobody waits for it', async (what, make, status) => {
  const longest = await longestTurn(async () => {
    expect((await put(what, make())).status).toBe(status);
  });
  expect(longest).toBeLessThan(5_000);
});
