import { RE2JS } from 're2js';
import { type OperatorArgument, type OperatorEntry, type ValueTest } from './operator-entry';

type StringOperator = OperatorEntry<string>;

const text = (name: string): OperatorArgument => ({ name, type: 'string' });
const list: OperatorArgument = { name: 'value', type: 'list' };

const operator = (entry: Omit<StringOperator, 'type'>): StringOperator => ({ type: 'string', ...entry });

/** Case is folded the same way everywhere and for every language: simple lowercase of Unicode, no locale. */
const fold = (value: string): string => value.toLowerCase();

const negated =
  (compile: (args: readonly never[]) => ValueTest<string>): ((args: readonly never[]) => ValueTest<string>) =>
  (args) => {
    const test = compile(args);
    return (value) => !test(value);
  };

const equals =
  ([wanted]: readonly string[]): ValueTest<string> =>
  (value) =>
    value === wanted;
const equalsFolded = ([wanted = '']: readonly string[]): ValueTest<string> => {
  const folded = fold(wanted);
  return (value) => fold(value) === folded;
};
const contains =
  ([part = '']: readonly string[]): ValueTest<string> =>
  (value) =>
    value.includes(part);
const isIncluded = ([wanted = []]: readonly (readonly unknown[])[]): ValueTest<string> => {
  const set = new Set(wanted);
  return (value) => set.has(value);
};
const containsAny = ([parts = []]: readonly (readonly unknown[])[]): ValueTest<string> => {
  const texts = parts.filter((part) => typeof part === 'string');
  return (value) => texts.some((part) => value.includes(part));
};
/** Linear in the length of the text whatever the pattern; anchors are the pattern's own business. */
const matchesPattern = ([pattern = '']: readonly string[]): ValueTest<string> => {
  const expression = RE2JS.compile(pattern);
  return (value) => expression.matcher(value).find();
};

/** Operators of string fields, beside those that every type has. */
export const stringOperators: readonly StringOperator[] = [
  operator({
    op: 'equals',
    args: [text('value')],
    meaning: 'Is the same text.',
    example: { args: ['a'], matches: 'a', misses: 'A' },
    compile: equals,
  }),
  operator({
    op: 'does not equal',
    args: [text('value')],
    meaning: 'Is another text.',
    example: { args: ['a'], matches: 'A', misses: 'a' },
    compile: negated(equals),
  }),
  operator({
    op: 'equals (case-insensitive)',
    args: [text('value')],
    meaning: 'Is the same text in any case.',
    example: { args: ['a'], matches: 'A', misses: 'b' },
    compile: equalsFolded,
  }),
  operator({
    op: 'does not equal (case-insensitive)',
    args: [text('value')],
    meaning: 'Is another text whatever the case.',
    example: { args: ['a'], matches: 'b', misses: 'A' },
    compile: negated(equalsFolded),
  }),
  operator({
    op: 'contains',
    args: [text('value')],
    meaning: 'Holds the text.',
    example: { args: ['el'], matches: 'hello', misses: 'world' },
    compile: contains,
  }),
  operator({
    op: 'does not contain',
    args: [text('value')],
    meaning: 'Does not hold the text.',
    example: { args: ['el'], matches: 'world', misses: 'hello' },
    compile: negated(contains),
  }),
  operator({
    op: 'contains (case-insensitive)',
    args: [text('value')],
    meaning: 'Holds the text in any case.',
    example: { args: ['EL'], matches: 'hello', misses: 'world' },
    compile: ([part = '']: readonly string[]) => {
      const folded = fold(part);
      return (value) => fold(value).includes(folded);
    },
  }),
  operator({
    op: 'is empty',
    args: [],
    meaning: 'Has no character.',
    example: { args: [], matches: '', misses: ' ' },
    compile: () => (value) => value === '',
  }),
  operator({
    op: 'is not empty',
    args: [],
    meaning: 'Has a character.',
    example: { args: [], matches: ' ', misses: '' },
    compile: () => (value) => value !== '',
  }),
  operator({
    op: 'starts with',
    args: [text('value')],
    meaning: 'Begins with the text.',
    example: { args: ['he'], matches: 'hello', misses: 'the' },
    compile:
      ([part = '']: readonly string[]) =>
      (value) =>
        value.startsWith(part),
  }),
  operator({
    op: 'ends with',
    args: [text('value')],
    meaning: 'Ends with the text.',
    example: { args: ['lo'], matches: 'hello', misses: 'low' },
    compile:
      ([part = '']: readonly string[]) =>
      (value) =>
        value.endsWith(part),
  }),
  operator({
    op: 'starts with (case-insensitive)',
    args: [text('prefix')],
    meaning: 'Begins with the text in any case.',
    example: { args: ['HE'], matches: 'hello', misses: 'the' },
    compile: ([part = '']: readonly string[]) => {
      const folded = fold(part);
      return (value) => fold(value).startsWith(folded);
    },
  }),
  operator({
    op: 'ends with (case-insensitive)',
    args: [text('suffix')],
    meaning: 'Ends with the text in any case.',
    example: { args: ['LO'], matches: 'hello', misses: 'low' },
    compile: ([part = '']: readonly string[]) => {
      const folded = fold(part);
      return (value) => fold(value).endsWith(folded);
    },
  }),
  operator({
    op: 'is included in',
    args: [list],
    meaning: 'Is one of the listed texts.',
    example: { args: [['a', 'b']], matches: 'b', misses: 'c' },
    compile: isIncluded,
  }),
  operator({
    op: 'is not included in',
    args: [list],
    meaning: 'Is none of the listed texts.',
    example: { args: [['a', 'b']], matches: 'c', misses: 'b' },
    compile: negated(isIncluded),
  }),
  operator({
    op: 'contains any of',
    args: [list],
    meaning: 'Holds one of the listed texts.',
    example: { args: [['el', 'or']], matches: 'world', misses: 'tree' },
    compile: containsAny,
  }),
  operator({
    op: 'does not contain any of',
    args: [list],
    meaning: 'Holds none of the listed texts.',
    example: { args: [['el', 'or']], matches: 'tree', misses: 'world' },
    compile: negated(containsAny),
  }),
  operator({
    op: 'matches RegEx',
    args: [{ name: 'pattern', type: 'pattern' }],
    meaning: 'The pattern is found in it; `^` and `$` tie the pattern to the ends.',
    example: { args: ['^[0-9]+$'], matches: '123', misses: '12a' },
    compile: matchesPattern,
  }),
  operator({
    op: 'does not match RegEx',
    args: [{ name: 'pattern', type: 'pattern' }],
    meaning: 'The pattern is not found in it.',
    example: { args: ['^[0-9]+$'], matches: '12a', misses: '123' },
    compile: negated(matchesPattern),
  }),
];
