import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RuleTable } from '@decision/contracts';
import { compileRule, evaluateRule, EXAMPLE_NOW, operatorCatalogue, operatorNames } from '../src/index';
import { bitmapsDecide, compileIndexed, crowded, isIndexed } from './support/searches';

/** One file of `cases/`: for each operator, `[arguments, value, whether it matches]`; a value of `"(missing)"` is omitted. */
type CaseFile = Readonly<Record<string, readonly (readonly [readonly unknown[], unknown, boolean])[]>>;

const MISSING = '(missing)';
const TYPES = ['number', 'string', 'boolean', 'date', 'list'] as const;
type InputType = (typeof TYPES)[number];

const files = TYPES.map((type) => ({
  type,
  cases: JSON.parse(readFileSync(join(__dirname, '../cases/operators', `${type}.json`), 'utf8')) as CaseFile,
}));

const tableOf = (type: InputType | 'object', op: string, args: readonly unknown[]): RuleTable => ({
  requestSchema: [{ key: 'value', type }],
  responseSchema: [{ key: 'matched', type: 'boolean', defaultValue: false }],
  conditions: [{ request: { value: { op, args: [...args] } }, response: { matched: { value: true } } }],
});

/** The answer of a table with one condition: alone, among many that are searched by bitmaps, and by the scan, all of which must agree. */
const matches = (type: InputType | 'object', op: string, args: readonly unknown[], value: unknown): unknown => {
  const table = tableOf(type, op, args);
  const input = value === MISSING ? {} : { value };
  const crowd = compileIndexed(crowded(table));
  if (isIndexed(type, op)) expect(bitmapsDecide(crowd, 0)).toBe(true);
  const answers = [compileRule(table), crowd.rule, compileRule(table, { search: 'scan' })].map((rule) => {
    const outcome = evaluateRule(rule, input, { now: EXAMPLE_NOW });
    return outcome.ok && outcome.output['matched'];
  });
  expect(new Set(answers).size).toBe(1);
  return answers[0];
};

describe.each(files)('E-14 operators of type $type', ({ type, cases }) => {
  const rows = Object.entries(cases).flatMap(([op, list]) =>
    list.map(([args, value, expected]) => ({ op, args, value, expected })),
  );

  it.each(rows)('$op $args on $value: $expected', ({ op, args, value, expected }) => {
    expect(matches(type, op, args, value)).toBe(expected);
  });

  it('are all there, in the order of the catalogue', () => {
    expect(Object.keys(cases).sort()).toEqual([...operatorNames(type)].sort());
  });

  const thorough = Object.entries(cases).filter(([op]) => op !== 'any');
  it.each(thorough)('%s has six cases at least: match, no match, null, missing, wrong type', (_op, list) => {
    const isWrongType = (value: unknown): boolean =>
      type === 'list'
        ? !Array.isArray(value)
        : !(type === 'date' ? ['string', 'number'] : [type]).includes(Array.isArray(value) ? 'list' : typeof value);
    expect(list.length).toBeGreaterThanOrEqual(6);
    expect(new Set(list.map(([, , expected]) => expected))).toEqual(new Set([true, false]));
    expect(list.some(([, value]) => value === null)).toBe(true);
    expect(list.some(([, value]) => value === MISSING)).toBe(true);
    expect(list.some(([, value]) => value !== null && value !== MISSING && isWrongType(value))).toBe(true);
  });
});

describe('E-14 cases stand on the boundary', () => {
  const bounded = files.flatMap(({ type, cases }) =>
    Object.entries(cases).flatMap(([op, list]) => {
      const entry = operatorCatalogue.find((candidate) => candidate.type === type && candidate.op === op);
      const isBounded = entry?.args.some((argument) => argument.type === 'number' || argument.type === 'date') === true;
      return isBounded ? [{ type, op, list }] : [];
    }),
  );
  const sizeOf = (value: unknown): unknown =>
    typeof value === 'string' ? [...value].length : Array.isArray(value) ? value.length : undefined;
  const isRelative = (op: string): boolean => /(minutes|hours|days|months) (ago|from now)$/.test(op);

  it.each(bounded.filter(({ type, op }) => !(type === 'date' && isRelative(op)) && !/(multiple|power) of$/.test(op)))(
    '$type: $op has a value, or one of a size, that its arguments name',
    ({ list }) => {
      expect(list.some(([args, value]) => args.includes(value) || args.includes(sizeOf(value)))).toBe(true);
    },
  );

  const DAY = 86_400_000;
  const instantOf = (value: unknown): number => (typeof value === 'number' ? value : Date.parse(String(value)));
  it.each(bounded.filter(({ type, op }) => type === 'date' && isRelative(op)))(
    '$type: $op matches a value and misses another that is no day away',
    ({ list }) => {
      const pairs = list.flatMap(([, hit, isHit]) =>
        isHit ? list.filter(([, , other]) => !other).map(([, miss]) => Math.abs(instantOf(hit) - instantOf(miss))) : [],
      );
      expect(Math.min(...pairs.filter((distance) => !Number.isNaN(distance)))).toBeLessThanOrEqual(DAY);
    },
  );
});

it('E-14 there are more than 1,200 cases', () => {
  const count = files.flatMap(({ cases }) => Object.values(cases)).flat().length;
  expect(count).toBeGreaterThan(1_200);
});

describe('E-14 the catalogue', () => {
  it('has each name once in a type', () => {
    const names = operatorCatalogue.map(({ type, op }) => `${type}: ${op}`);
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(operatorCatalogue.filter(({ op }) => op !== 'any'))(
    'keeps the promise of the example of $type: $op',
    ({ type, op, example }) => {
      expect(matches(type as InputType, op, example.args, example.matches)).toBe(true);
      expect(matches(type as InputType, op, example.args, example.misses)).toBe(false);
    },
  );

  it.each(operatorCatalogue)('says what $type: $op means, in one sentence', ({ meaning }) => {
    expect(meaning).toMatch(/^[A-Z][^\n]*\.$/);
  });

  it('lets fields of type object match anything and ask for null', () => {
    expect(operatorNames('object')).toEqual(['any', 'is null']);
    for (const value of [MISSING, null, {}, 5]) expect(matches('object', 'any', [], value)).toBe(true);
    expect([MISSING, null, {}, 5].map((value) => matches('object', 'is null', [], value))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});
