import { batchIncludes } from '@decision/contracts';
import fc from 'fast-check';
import { base, noCollections, withPolicy } from '../../test/fixtures';
import { groupRecords, readInclude, REJECTION_BYTES } from './group-records';

const model = withPolicy('reject', { base: base({ a: 'number', b: 'string' }) });
const group = (records: readonly unknown[], first = 0) =>
  groupRecords(model, records, noCollections, { firstPosition: first });

describe('a batch', () => {
  it('C90: rejects records with their position and a sentence, and accepts the others', () => {
    const grouped = group([
      { id: 'x', a: 1 },
      { a: 1 },
      'text',
      null,
      [],
      { id: 7 },
      { id: 'y', a: 'one', z: 1 },
      { id: '' },
      { id: 'y' },
    ]);
    expect(grouped.instances.map(({ instanceId }) => instanceId)).toEqual(['x', 'y']);
    expect(grouped.rejections.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(grouped.rejections.map(({ error }) => error)).toEqual([
      'The record cannot be merged: the identity fact "id" is missing.',
      'The record must be an object of facts, not a string.',
      'The record must be an object of facts, not null.',
      'The record must be an object of facts, not a list.',
      'The record cannot be merged: the identity fact "id" must be a string, not a number.',
      'The fact "a" must be a number, not a string. The context has no fact "z".',
      'The record cannot be merged: the identity fact "id" is empty.',
    ]);
  });

  it('C90: lists every rejection of a batch with 50,000 rejected records', () => {
    const { instances, rejections, rejected } = group([...Array.from({ length: 50_000 }, () => 0), { id: 'x' }]);
    expect(rejections.map(({ position }) => position)).toEqual(Array.from({ length: 50_000 }, (_, index) => index));
    expect({ rejected, instances }).toEqual({
      rejected: 50_000,
      instances: [expect.objectContaining({ positions: [50_000] })],
    });
  });

  it('C90: lists the first rejections that fit, and only counts those after them', () => {
    const bad = { id: 'x', a: 'one' };
    const records = [0, 0, { ...bad, ['z'.repeat(300)]: 1 }, 0, { id: 'y' }, 0];
    const tell = (rejectionBytes: number) => groupRecords(model, records, noCollections, { rejectionBytes });
    expect(tell(250)).toMatchObject({ rejections: [{ position: 0 }, { position: 1 }], rejected: 5 });
    expect(tell(0)).toMatchObject({ rejections: [], rejected: 5, instances: [{ instanceId: 'y' }] });
    expect(tell(Infinity).rejections).toHaveLength(5);
    expect(REJECTION_BYTES).toBe(8 * 1024 * 1024);
  });

  it('C90: keeps the list within its bound of JSON bytes for any records', () => {
    const zeros = Array.from({ length: 200_000 }, () => 0);
    const { rejections, rejected } = group(zeros);
    const bytes = JSON.stringify(rejections).length;
    expect(rejected).toBe(200_000);
    expect(bytes).toBeLessThanOrEqual(REJECTION_BYTES);
    expect(bytes).toBeGreaterThan(REJECTION_BYTES * 0.9);
  });

  it('C22, C28: lists some of the ignored facts of an instance, and counts all', () => {
    const ignoring = withPolicy('ignore', { base: base({ a: 'number', b: 'string' }) });
    const found = groupRecords(
      ignoring,
      [
        { id: 'x', a: 'one' },
        { id: 'y', a: 1 },
        { id: 'x', c: 1, b: 'two' },
      ],
      noCollections,
    );
    expect(found).toMatchObject({
      ignored: 2,
      instances: [
        { instanceId: 'x', facts: { b: 'two' }, ignored: [{ fact: 'a' }, { fact: 'c' }], ignoredCount: 2 },
        { instanceId: 'y', facts: { a: 1 }, ignored: [], ignoredCount: 0 },
      ],
    });
    const unknown = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`u${index}`, 1]));
    const many = Array.from({ length: 90 }, (_, index) => ({ id: `i${index % 30}`, ...unknown }));
    const { instances, ignored } = groupRecords(ignoring, many, noCollections);
    expect(ignored).toBe(27_000);
    expect(instances.map(({ ignoredCount }) => ignoredCount)).toEqual(Array.from({ length: 30 }, () => 900));
    expect(instances.map((given) => given.ignored.length)).toEqual([
      ...Array.from({ length: 10 }, () => 100),
      ...Array.from({ length: 20 }, () => 0),
    ]);
  });

  it('C91, C92: folds the records of one instance in order', () => {
    const { instances } = group(
      [{ id: 'x', a: 1, b: 'first' }, { id: 'y' }, { id: 'x', a: 2 }, { id: 'x', b: null }],
      10,
    );
    expect(instances).toEqual([
      { instanceId: 'x', positions: [10, 12, 13], facts: { a: 2, b: null }, ignored: [], ignoredCount: 0 },
      { instanceId: 'y', positions: [11], facts: {}, ignored: [], ignoredCount: 0 },
    ]);
  });

  it('C93: makes no instance of rejected records', () => {
    expect(group([{ id: 'x', a: 'no' }]).instances).toEqual([]);
    expect(group([{ id: 'x', a: 'no' }, { id: 'x' }]).instances).toMatchObject([{ positions: [1] }]);
  });

  it('C35: treats names of prototypes as ids and facts like others', () => {
    const { instances, rejections } = group([
      { id: '__proto__', a: 1 },
      { id: 'constructor' },
      JSON.parse('{"id": "x", "__proto__": 1}'),
    ]);
    expect(instances.map(({ instanceId }) => instanceId)).toEqual(['__proto__', 'constructor']);
    expect(rejections).toMatchObject([{ position: 2 }]);
  });

  it('C90: assigns every position to an instance or to a rejection', () => {
    const record = fc.oneof(
      fc.record({ id: fc.constantFrom('x', 'y', 'z'), a: fc.oneof(fc.integer(), fc.string()) }),
      fc.anything(),
    );
    fc.assert(
      fc.property(fc.array(record, { maxLength: 20 }), (records) => {
        const { instances, rejections } = group(records);
        const positions = [
          ...instances.flatMap((instance) => instance.positions),
          ...rejections.map(({ position }) => position),
        ];
        expect(positions.sort((a, b) => a - b)).toEqual(records.map((_, index) => index));
      }),
    );
  });
});

describe('C82: include', () => {
  it('names fields', () => {
    expect(readInclude('state, have')).toEqual({ ok: true, fields: new Set(['have', 'state']) });
    expect(readInclude('instance_id')).toEqual({ ok: true, fields: new Set() });
    expect(readInclude('')).toEqual({ ok: true, fields: new Set() });
  });

  it('reports unknown names', () => {
    expect(readInclude('state,colour,__proto__,colour')).toEqual({ ok: false, unknown: ['colour', '__proto__'] });
  });

  it('means everything but executions and raw results when it is absent', () => {
    const reading = readInclude(undefined);
    const left = reading.ok ? batchIncludes.filter((field) => !reading.fields.has(field)) : [];
    expect(left).toEqual(['executions', 'execution_results']);
  });
});
