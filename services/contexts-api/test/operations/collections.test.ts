import { saveValues } from '@decision/persistence';
import { type FlightCounter, startFlightCounter } from '@decision/persistence/testing';
import { type ContextsApiUnderTest, startContextsApi } from '../contexts-api-under-test';

let counter: FlightCounter;
let api: ContextsApiUnderTest;

beforeAll(async () => {
  api = await startContextsApi({
    chunkSize: 10,
    through: async (url) => (counter = await startFlightCounter(url)).url,
  });
});
afterAll(async () => {
  await api.stop();
  await counter.close();
});

const saveMembers = (collection: string, ...members: readonly string[]) =>
  api.database.inWorkspace(api.access, (transaction) =>
    saveValues(
      transaction,
      members.map((content) => ({ name: `${collection}.${content}`, type: 'string', content })),
      { newUserGroups: [] },
    ),
  );

let made = 0;
/** Parcels: a size and labels from two collections, and a grade that a rule may write. */
const makeParcels = async () => {
  made += 1;
  const names = { sizes: `sizes${made}`, labels: `labels${made}`, grades: `grades${made}` };
  await saveMembers(names.sizes, 'S', 'M');
  await saveMembers(names.labels, 'fragile', 'cold');
  await saveMembers(names.grades, 'good');
  const limited = (key: string, collection: string, more = {}) => ({
    ...{ key, type: 'string', values_only: true, values_collection: collection },
    ...more,
  });
  const { body } = await api.call('POST', '/admin/contexts', {
    name: `Parcels ${made}`,
    identity_fact: 'parcel_id',
    on_schema_mismatch: 'reject',
    schema: {
      base: [
        { key: 'parcel_id', type: 'string' },
        { key: 'weight', type: 'number' },
        limited('size', names.sizes),
        limited('labels', names.labels, { type: 'list' }),
        limited('grade', names.grades, { output_only: true }),
      ],
    },
  });
  const slug = String(body['slug']);
  const submit = (facts: object, id = 'p-1') => api.call('POST', `/contexts/${slug}/${id}`, facts);
  return { slug, names, submit };
};

const grading = (grade: string) => ({
  inputs: [{ key: 'weight', name: 'Weight', type: 'number' as const }],
  outputs: [{ key: 'grade', name: 'Grade', type: 'string' as const }],
  rows: [{ request: {}, response: { grade: { value: grade } } }],
});

it('C21: takes members of the collection, each element of a list, and null', async () => {
  const { submit } = await makeParcels();
  expect(await submit({ size: 'S', labels: ['cold', 'fragile'] })).toMatchObject({ status: 200 });
  expect(await submit({ size: null, labels: [] })).toMatchObject({ status: 200, body: { status: 'complete' } });
  const { status, body } = await submit({ size: 'fragile', labels: ['cold', 'M'] });
  expect(status).toBe(422);
  expect(String(body['error'])).toMatch(/"size" must hold values .* "labels" must hold values/);
});

it('follows the values between submissions', async () => {
  const { submit, names } = await makeParcels();
  expect(await submit({ size: 'XL' })).toMatchObject({ status: 422 });
  await saveMembers(names.sizes, 'XL');
  expect(await submit({ size: 'XL' })).toMatchObject({ status: 200 });
});

it('C95: checks each record of a batch, as a list and as lines', async () => {
  const { slug } = await makeParcels();
  const records = Array.from({ length: 30 }, (_, at) => ({ parcel_id: `p-${at}`, size: ['S', 'M', 'L'][at % 3] }));
  const expected = { accepted: 20, rejected: 10 };
  const list = await api.call('POST', `/contexts/batch/${slug}`, records);
  expect(list.body).toMatchObject(expected);
  const response = await fetch(`${api.url}/api/v1/contexts/batch/${slug}`, {
    method: 'POST',
    headers: { 'x-api-key': api.adminKey, 'content-type': 'application/x-ndjson' },
    body: records.map((record) => JSON.stringify(record)).join('\n'),
  });
  const { rejections, ...lines } = (await response.json()) as { rejections: { position: number }[] };
  expect(lines).toMatchObject(expected);
  expect(rejections.map(({ position }) => position)).toEqual([2, 5, 8, 11, 14, 17, 20, 23, 26, 29]);
});

it('C65: a rule writes members of the collection of its fact, and nothing else', async () => {
  const { slug, submit, names } = await makeParcels();
  const rule = await api.bindRule(slug, `${slug}-grade`, grading('good'));
  expect(await submit({ weight: 1 })).toMatchObject({ status: 200, body: { state: { grade: 'good' } } });
  await api.publish(rule, grading('bad'));
  const refused = await submit({ weight: 2 });
  expect(JSON.stringify(refused.body)).toContain('The fact \\"grade\\" must hold values of the collection');
  await saveMembers(names.grades, 'bad');
  expect(await submit({ weight: 3 })).toMatchObject({ status: 200, body: { state: { grade: 'bad' } } });
});

it('costs two round trips if a submission names a member, and none elsewhere', async () => {
  const { submit } = await makeParcels();
  let weight = 0;
  for (let n = 0; n < 12; n += 1) await submit({ weight: (weight += 1), size: n % 2 === 0 ? 'S' : 'M' });
  expect(await counter.count(() => submit({ weight: (weight += 1) }))).toBe(3);
  expect(await counter.count(() => submit({ size: 'S', labels: ['cold'] }))).toBe(5);
});
