import { type RuleTable } from '@decision/contracts';
import { compileRule, evaluateRule, EXAMPLE_NOW, operatorCatalogue, type OperatorEntry } from '../src/index';
import { growthFault } from './support/growth';
import { times } from './support/random';

/*
 * No operator takes longer than n log n in the size of the value and of its arguments. Processor times are compared only with each other
 * within a run, never with a bound.
 */

type Make = (size: number) => unknown;

/** Creates the value of each size once: all operators are tested with the same values, and change none of them. */
const once = (makers: Readonly<Record<string, Make>>): Readonly<Record<string, Make>> =>
  Object.fromEntries(Object.entries(makers).map(([name, make]) => [name, remembering(make)]));

const remembering = (make: Make): Make => {
  const made = new Map<number, unknown>();
  return (size) => {
    if (!made.has(size)) made.set(size, make(size));
    return made.get(size);
  };
};

const tableOf = ({ type, op }: OperatorEntry, args: readonly unknown[]): RuleTable => ({
  requestSchema: [{ key: 'value', type }],
  responseSchema: [],
  conditions: [{ request: { value: { op, args: [...args] } } }],
});

/** Compiles a table with one operator and evaluates it for a value, with the explanation. */
const ask = (entry: OperatorEntry, args: readonly unknown[], value: unknown): void => {
  const outcome = evaluateRule(compileRule(tableOf(entry, args)), { value }, { now: EXAMPLE_NOW, explain: 'all' });
  expect(JSON.stringify(outcome).length).toBeLessThan(20_000);
};

/** `npm run test:long` tests each value with each needle and list; otherwise the values alternate between them. */
const IS_LONG = process.env['TEST_LONG'] === '1';

/** Selects the values to test with one of several arguments. */
const turnOf = <T>(values: readonly T[], argument: number, count: number): readonly T[] =>
  values.filter((_, index) => IS_LONG || index % count === argument);

const UNITS = 60_000;

const texts = once({
  'one character': (size) => 'a'.repeat(size),
  'one character and another': (size) => `${'a'.repeat(size - 1)}b`,
  'a short period': (size) => 'ab'.repeat(size / 2),
  digits: (size) => '1'.repeat(size),
  'digits and an exponent': (size) => `${'1'.repeat(size / 2)}.${'2'.repeat(size / 2)}e5x`,
  dots: (size) => '.'.repeat(size),
  'mail addresses': (size) => 'a@b.'.repeat(size / 4),
  'an address of the web': (size) => `http://${'a.'.repeat(size / 2)}`,
  'a version': (size) => `1.${'0'.repeat(size)}-${'a.'.repeat(size / 2)}`,
  words: (size) => 'f u c k '.repeat(size / 8),
  'one long word': (size) => '@$!1'.repeat(size / 4),
  sigmas: (size) => 'Σ\u0301'.repeat(size / 2),
  'text that grows in upper case': (size) => 'ﬃ'.repeat(size),
  'lone surrogates': (size) => '\ud83d'.repeat(size),
  pairs: (size) => '😀'.repeat(size / 2),
  nul: (size) => '\u0000'.repeat(size),
});

const textArguments = once({
  'a long needle': (size) => `${'a'.repeat(size / 4)}b${'a'.repeat(size / 4)}`,
  'a periodic needle': (size) => `${'ab'.repeat(size / 8)}b${'ab'.repeat(size / 8)}`,
  'a short needle': () => 'ba',
});

const partLists = once({
  'many parts': (size) => times(size / 8, (index) => `${index} b`),
  'parts that begin alike': (size) => times(400, (index) => `${'a'.repeat(size / 800)}${index}c`),
});

const argumentsFor = (entry: OperatorEntry, text: Make, parts: Make, size: number): unknown[] =>
  entry.args.map(({ name, type }, index) => {
    if (name === 'regex') return '(a|aa)+$';
    if (name === 'range') return '>=1.0.0 || '.repeat(80) + '2';
    if (/version/i.test(name)) return index === 0 ? '1.0.0' : '9.0.0';
    if (type === 'list') return parts(size);
    return type === 'number' ? size : text(size);
  });

describe('E-160 long texts', () => {
  const entries = operatorCatalogue.filter(({ type, op }) => type === 'string' && op !== 'any');
  it.each(entries.map((entry) => [entry.op, entry] as const))(
    '%s',
    (_op, entry) => {
      const takesText = entry.args.some(({ type }) => type === 'string');
      const takesList = entry.args.some(({ type }) => type === 'list');
      const needles = takesText ? Object.values(textArguments) : [() => 'a'];
      const partMakers = takesList ? Object.values(partLists) : [() => []];
      for (const [turn, needle] of needles.entries()) {
        for (const [listTurn, parts] of partMakers.entries()) {
          const count = needles.length * partMakers.length;
          const asked = turnOf(Object.entries(texts), turn * partMakers.length + listTurn, count);
          for (const [name, make] of asked) {
            const workAt = (size: number) => {
              const [args, value] = [argumentsFor(entry, needle, parts, size), make(size)];
              return () => ask(entry, args, value);
            };
            const fault = growthFault(workAt, UNITS);
            expect(fault === undefined ? undefined : `${name}: ${fault}`).toBeUndefined();
          }
        }
      }
    },
    180_000,
  );
});

const ELEMENTS = 2_000;
const LONG = 'K'.repeat(50_000);

const lists = once({
  'the same number': (size) => times(size, () => 7),
  'different numbers': (size) => times(size, (index) => index),
  'the same text': (size) => times(size, () => 'a'),
  'different texts': (size) => times(size, (index) => `Text ${index}`),
  'the same objects': (size) => times(size, () => ({ k: 'a', l: 1 })),
  'different objects': (size) => times(size, (index) => ({ k: index, [`k${index}`]: 'A' })),
  'empty objects': (size) => times(size, () => ({})),
  'lists of one': (size) => times(size, (index) => [index % 10]),
  'empty lists': (size) => times(size, () => []),
  'one wide object': (size) => [Object.fromEntries(times(size, (index) => [`k${index}`, index]))],
  'one deep list': (size) => times(size, (index) => index).reduce<unknown[]>((inner) => [inner], []),
});

const elementArguments = once({
  'a long text': () => LONG,
  'a wide object': (size) => Object.fromEntries(times(size, (index) => [`k${index}`, index])),
});

const keyLists = once({
  'the same key': (size) => times(size, () => 'k'),
  'different keys': (size) => times(size, (index) => `k${index}`),
});

const listArgument = (keys: boolean, element: Make, list: Make, size: number): unknown =>
  keys ? list(size) : [...(list(size) as unknown[]), element(size)]; // these functions make lists

describe('E-160 long lists', () => {
  const entries = operatorCatalogue.filter(({ type, op }) => type === 'list' && op !== 'any');
  it.each(entries.map((entry) => [entry.op, entry] as const))(
    '%s',
    (_op, entry) => {
      const takesKeys = entry.args.some(({ name }) => name === 'keys');
      const takesElement = entry.args.some(({ type }) => ['generic', 'list', 'object'].includes(type)) && !takesKeys;
      const argumentLists = takesKeys ? Object.values(keyLists) : Object.values(keyLists).slice(-1);
      const elements = takesElement ? Object.values(elementArguments) : [() => 'a'];
      for (const [turn, element] of elements.entries()) {
        for (const [listTurn, list] of argumentLists.entries()) {
          const count = elements.length * argumentLists.length;
          for (const [name, make] of turnOf(Object.entries(lists), turn * argumentLists.length + listTurn, count)) {
            const workAt = (size: number) => {
              const value = make(size);
              const args = entry.args.map(({ type, name: argument }, index) => {
                if (type === 'generic') return element(size);
                if (type === 'list') return listArgument(argument === 'keys', element, list, size);
                if (type === 'object') return elementArguments['a wide object']?.(size);
                return type === 'string' ? 'k' : index + size / 2;
              });
              return () => ask(entry, args, value);
            };
            const fault = growthFault(workAt, ELEMENTS);
            expect(fault === undefined ? undefined : `${name}: ${fault}`).toBeUndefined();
          }
        }
      }
    },
    180_000,
  );
});

describe('E-160 values of any shape', () => {
  const deep = (depth: number): unknown => {
    let value: unknown = 1;
    for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { k: value };
    return value;
  };
  const wide = Object.fromEntries(times(100_000, (index) => [`k${index}`, index]));
  const odd = [
    1e308,
    -1e308,
    -0,
    5e-324,
    Number.NaN,
    Infinity,
    -Infinity,
    2 ** 53,
    '\ud800',
    '\udfff\ud800',
    '\u0000',
    '',
    'k'.repeat(1_000_000),
    { ['k'.repeat(1_000_000)]: 1 },
    deep(10_000),
    [deep(10_000), deep(10_000)],
    wide,
    [wide, wide],
  ];

  it.each(operatorCatalogue.map((entry) => [`${entry.type}: ${entry.op}`, entry] as const))(
    '%s answers and is explained',
    (_name, entry) => {
      const rule = compileRule(tableOf(entry, entry.example.args));
      for (const value of odd) {
        const outcome = evaluateRule(rule, { value }, { now: EXAMPLE_NOW, explain: 'all' });
        if (!outcome.ok) expect(outcome.error.details).toMatchObject({ reason: 'text_too_long' });
        expect(JSON.stringify(outcome).length).toBeLessThan(20_000);
      }
    },
  );
});
