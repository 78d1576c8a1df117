import { type RuleTable } from '@decision/contracts';
import { compileRule, evaluateRule, EXAMPLE_NOW, operatorCatalogue, type OperatorEntry } from '../src/index';
import { times } from './support/random';

/*
 * The largest values that a request is expected to have, once for each operator and shape. `hostile-costs.test.ts` tests the growth of costs
 * at smaller sizes, where they can be compared; here every operator must answer. All values take minutes, so only `npm run test:long` uses
 * their full size, and every other run a tenth of it.
 */

const PART = process.env['TEST_LONG'] === '1' ? 1 : 0.1;
const CHARACTERS = 1_000_000 * PART;
const ELEMENTS = 100_000 * PART;

const texts: readonly string[] = [
  'a'.repeat(CHARACTERS),
  `${'ab'.repeat(CHARACTERS / 2 - 1)}b`,
  '1'.repeat(CHARACTERS),
  'a@b.'.repeat(CHARACTERS / 4),
  'f u c k '.repeat(CHARACTERS / 8),
  'Σ\u0301'.repeat(CHARACTERS / 2),
  '\ud83d'.repeat(CHARACTERS),
];

const lists: readonly unknown[][] = [
  times(ELEMENTS, () => 7),
  times(ELEMENTS, (index) => `Text ${index}`),
  times(ELEMENTS, (index) => ({ k: index, [`k${index}`]: 'A' })),
  times(ELEMENTS, (index) => [index % 10]),
  [Object.fromEntries(times(ELEMENTS, (index) => [`k${index}`, index]))],
];

const tableOf = ({ type, op }: OperatorEntry, args: readonly unknown[]): RuleTable => ({
  requestSchema: [{ key: 'value', type }],
  responseSchema: [],
  conditions: [{ request: { value: { op, args: [...args] } } }],
});

/** The answer, with an explanation, is the same twice, and is bounded. */
const meets = (entry: OperatorEntry, args: readonly unknown[], value: unknown): void => {
  const rule = compileRule(tableOf(entry, args));
  const outcome = evaluateRule(rule, { value }, { now: EXAMPLE_NOW, explain: 'all' });
  if (!outcome.ok) expect(outcome.error.details).toMatchObject({ reason: 'text_too_long' });
  expect(JSON.stringify(outcome).length).toBeLessThan(20_000);
  expect(evaluateRule(rule, { value }, { now: EXAMPLE_NOW }).ok).toBe(outcome.ok);
};

const entriesOf = (type: string) =>
  operatorCatalogue.filter((entry) => entry.type === type).map((entry) => [entry.op, entry] as const);

describe(`E-160 a text of ${CHARACTERS} characters`, () => {
  const argumentsFor = (entry: OperatorEntry, text: string): unknown[] =>
    entry.args.map(({ name, type }, index) => {
      if (name === 'regex') return '(a|ab)+$';
      if (name === 'range') return '>=1.0.0 || '.repeat(80) + '2';
      if (/version/i.test(name)) return index === 0 ? '1.0.0' : '9.0.0';
      if (type === 'list') return times(1_000, (place) => `${text.slice(0, CHARACTERS / 1_000)}${place}c`);
      return type === 'number' ? CHARACTERS : `${text.slice(0, CHARACTERS / 2)}b`;
    });

  it.each(entriesOf('string'))(
    '%s',
    (_op, entry) => {
      for (const text of texts) meets(entry, argumentsFor(entry, text), text);
    },
    180_000,
  );
});

describe(`E-160 a list of ${ELEMENTS} elements`, () => {
  const keys = times(ELEMENTS, (index) => `k${index}`);
  const wide = Object.fromEntries(keys.map((key, index) => [key, index]));
  const argumentsFor = (entry: OperatorEntry, list: readonly unknown[]): unknown[] =>
    entry.args.map(({ name, type }, index) => {
      if (type === 'generic') return wide;
      if (type === 'list') return name === 'keys' ? keys : [...list, 'K'.repeat(50_000)];
      if (type === 'object') return wide;
      return type === 'string' ? 'k' : index + ELEMENTS / 2;
    });

  it.each(entriesOf('list'))(
    '%s',
    (_op, entry) => {
      for (const list of lists) meets(entry, argumentsFor(entry, list), list);
    },
    180_000,
  );
});
