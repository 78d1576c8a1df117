import { batchIncludes } from '@decision/contracts';
import fc from 'fast-check';
import { base, noCollections, withPolicy } from '../../test/fixtures';
import { groupRecords } from './group-records';
import { readInclude } from './include';

const model = withPolicy('reject', { base: base({ a: 'number', b: 'string' }) });
const group = (records: readonly unknown[], first = 0) => groupRecords(model, records, noCollections, first);

describe('a batch', () => {
  it('C90: rejects records with their position and a sentence, and takes the others', () => {
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

  it('C91, C92: folds the records of one instance in their order', () => {
    const { instances } = group(
      [{ id: 'x', a: 1, b: 'first' }, { id: 'y' }, { id: 'x', a: 2 }, { id: 'x', b: null }],
      10,
    );
    expect(instances).toEqual([
      { instanceId: 'x', positions: [10, 12, 13], facts: { a: 2, b: null } },
      { instanceId: 'y', positions: [11], facts: {} },
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

  it('C90: gives every position to an instance or to a rejection', () => {
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

  it('tells names that mean none', () => {
    expect(readInclude('state,colour,__proto__,colour')).toEqual({ ok: false, unknown: ['colour', '__proto__'] });
  });

  it('that is absent means all but executions and raw results', () => {
    const reading = readInclude(undefined);
    const left = reading.ok ? batchIncludes.filter((field) => !reading.fields.has(field)) : [];
    expect(left).toEqual(['executions', 'execution_results']);
  });
});
