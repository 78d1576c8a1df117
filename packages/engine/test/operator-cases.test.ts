import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FieldType, fieldTypes, type RuleTable } from '@decision/contracts';
import { compileRule, evaluateRule, operatorCatalogue } from '../src/index';

/** One file of `cases/`: for each operator, `[args, value, whether it matches]`; a value of `"(missing)"` is left out. */
type CaseFile = Readonly<Record<string, readonly (readonly [readonly unknown[], unknown, boolean])[]>>;

const MISSING = '(missing)';
const directory = join(__dirname, '../cases');

const files = readdirSync(directory).map((name) => ({
  type: name.replace('.json', '') as FieldType,
  cases: JSON.parse(readFileSync(join(directory, name), 'utf8')) as CaseFile,
}));

const tableOf = (type: FieldType, op: string, args: readonly unknown[]): RuleTable => ({
  requestSchema: [{ key: 'value', type }],
  responseSchema: [{ key: 'matched', type: 'boolean', defaultValue: false }],
  conditions: [{ request: { value: { op, args: [...args] } }, response: { matched: { value: true } } }],
});

const matches = (type: FieldType, op: string, args: readonly unknown[], value: unknown): unknown => {
  const outcome = evaluateRule(compileRule(tableOf(type, op, args)), value === MISSING ? {} : { value }, { now: 0 });
  return outcome.ok && outcome.output['matched'];
};

describe.each(files)('operators of type $type', ({ type, cases }) => {
  const rows = Object.entries(cases).flatMap(([op, list]) =>
    list.map(([args, value, expected]) => ({ op, args, value, expected })),
  );

  it.each(rows)('$op $args on $value: $expected', ({ op, args, value, expected }) => {
    expect(matches(type, op, args, value)).toBe(expected);
  });

  it('has at least six cases for every operator', () => {
    const thin = operatorCatalogue
      .filter((entry) => entry.type === type && (cases[entry.op]?.length ?? 0) < 6)
      .map(({ op }) => op);
    expect(thin).toEqual([]);
  });
});

describe('the catalogue', () => {
  it.each(operatorCatalogue.filter(({ op, acceptsAbsent }) => op !== 'any' && acceptsAbsent !== true))(
    'keeps the promise of the example of $type: $op',
    ({ type, op, example }) => {
      expect(matches(type, op, example.args, example.matches)).toBe(true);
      expect(matches(type, op, example.args, example.misses)).toBe(false);
    },
  );

  it.each(fieldTypes.filter((type) => type !== 'function'))(
    'lets fields of type %s match anything and ask for null',
    (type) => {
      for (const value of [MISSING, null, 0, '', false, [], {}]) expect(matches(type, 'any', [], value)).toBe(true);
      expect([MISSING, null, 0, '', false, [], {}].map((value) => matches(type, 'is null', [], value))).toEqual([
        true,
        true,
        false,
        false,
        false,
        false,
        false,
      ]);
    },
  );

  it('names each operator of a type once', () => {
    const names = operatorCatalogue.map(({ type, op }) => `${type}: ${op}`);
    expect(new Set(names).size).toBe(names.length);
  });
});
