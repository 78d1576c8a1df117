import { areEqual } from '@decision/values';
import { isObject } from '../values/json-value';
import { anything, object, text, texts, wholeNumber } from './argument';
import { type Condition, negate, test } from './condition';
import { exactly, ignoringCase, type List, type Matching } from './element-operators';
import { type Operator, operatorsOf } from './operator-entry';

const operator = operatorsOf<List>('list');

/** Whether an element is an object with the value under the key. Keys are never dotted, and are case-sensitive. */
const hasPair = (element: unknown, key: string, value: unknown, matching: Matching): boolean =>
  isObject(element) && Object.hasOwn(element, key) && matching.areEqual(element[key], value);

const hasKey = (element: unknown, key: string): boolean => isObject(element) && Object.hasOwn(element, key);

const hasKeys = (element: unknown, keys: readonly string[]): boolean =>
  isObject(element) && keys.every((key) => Object.hasOwn(element, key));

const hasData = (element: unknown, data: readonly (readonly [string, unknown])[]): boolean =>
  isObject(element) && data.every(([key, value]) => Object.hasOwn(element, key) && areEqual(element[key], value));

const anyPair = (key: string, value: unknown, matching: Matching): Condition<List> =>
  test((elements) => elements.some((element) => hasPair(element, key, value, matching)));

const anyKey = (key: string): Condition<List> => test((elements) => elements.some((element) => hasKey(element, key)));

/** Each key once: elements that have them all are not checked repeatedly. */
const distinct = (keys: readonly string[]): readonly string[] => [...new Set(keys)];

const onlyKeys = (keys: readonly string[]): Condition<List> => {
  const wanted = distinct(keys);
  return test((elements) => elements.every((element) => hasKeys(element, wanted)));
};

const anyData = (data: Readonly<Record<string, unknown>>): Condition<List> => {
  const entries = Object.entries(data);
  return test((elements) => elements.some((element) => hasData(element, entries)));
};

const pairOperators = (matching: Matching, upper: string): readonly Operator[] => [
  operator({
    op: `contains object with key & value${matching.suffix}`,
    args: [text('key'), anything('value')],
    meaning: `Has an object in which the value stands under the key${matching.inWords}.`,
    example: [['k', 'a'], [1, { k: upper }], [{ k: 'b' }]],
    condition: (key, value) => anyPair(key, value, matching),
  }),
  operator({
    op: `does not contain object with key & value${matching.suffix}`,
    args: [text('key'), anything('value')],
    meaning: `Has no object in which the value stands under the key${matching.inWords}.`,
    example: [['k', 'a'], [{ k: 'b' }], [1, { k: upper }]],
    condition: (key, value) => negate(anyPair(key, value, matching)),
  }),
  operator({
    op: `has object with key & value at index${matching.suffix}`,
    args: [wholeNumber('index'), text('key'), anything('value')],
    meaning: `Has at the index, counted from 0, an object in which the value stands under the key${matching.inWords}.`,
    example: [[0, 'k', 'a'], [{ k: upper }], [1, { k: upper }]],
    condition: (index, key, value) => test((elements) => hasPair(elements[index], key, value, matching)),
  }),
];

/** Operators on the objects in a list. They skip elements that are not objects, except the operators on all objects. */
export const objectElementOperators: readonly Operator[] = [
  ...pairOperators(exactly, 'a'),
  ...pairOperators(ignoringCase, 'A'),
  operator({
    op: 'contains object with key',
    args: [text('key')],
    meaning: 'Has an object with the key, whatever stands under it.',
    example: [['k'], [{ k: null }], [{ l: 1 }]],
    condition: anyKey,
  }),
  operator({
    op: 'contains any object with key',
    args: [text('key')],
    meaning: 'Has an object with the key; the same as "contains object with key".',
    example: [['k'], [{ k: null }], [{ l: 1 }]],
    condition: anyKey,
  }),
  operator({
    op: 'does not contain object with key',
    args: [text('key')],
    meaning: 'Has no object with the key.',
    example: [['k'], [{ l: 1 }], [{ k: null }]],
    condition: (key) => negate(anyKey(key)),
  }),
  operator({
    op: 'contains only objects with keys',
    args: [texts('keys')],
    meaning: 'Has nothing but objects with all the keys, others beside them or not; an empty list has nothing else.',
    example: [[['k', 'l']], [{ k: 1, l: 2, m: 3 }], [{ k: 1 }]],
    condition: onlyKeys,
  }),
  operator({
    op: 'does not contain only objects with keys',
    args: [texts('keys')],
    meaning: 'Has an element that is no object with all the keys.',
    example: [[['k', 'l']], [{ k: 1 }], [{ k: 1, l: 2 }]],
    condition: (keys) => negate(onlyKeys(keys)),
  }),
  operator({
    op: 'contains object with data',
    args: [object('data')],
    meaning: 'Has an object with all keys and values of the argument, others beside them or not.',
    example: [[{ k: 1 }], [{ k: 1, l: 2 }], [{ k: 2 }]],
    condition: anyData,
  }),
  operator({
    op: 'contains all objects with data',
    args: [object('data')],
    meaning: 'Has nothing but objects with all keys and values of the argument; an empty list has nothing else.',
    example: [[{ k: 1 }], [{ k: 1, l: 2 }, { k: 1 }], [{ k: 1 }, { k: 2 }]],
    condition: (data) => {
      const entries = Object.entries(data);
      return test((elements) => elements.every((element) => hasData(element, entries)));
    },
  }),
  operator({
    op: 'does not contain object with data',
    args: [object('data')],
    meaning: 'Has no object with all keys and values of the argument.',
    example: [[{ k: 1 }], [{ k: 2 }], [{ k: 1, l: 2 }]],
    condition: (data) => negate(anyData(data)),
  }),
  operator({
    op: 'object at index has keys',
    args: [wholeNumber('index'), texts('keys')],
    meaning: 'Has at the index, counted from 0, an object with all the keys.',
    example: [[0, ['k', 'l']], [{ k: 1, l: 2 }], [{ k: 1 }]],
    condition: (index, keys) => {
      const wanted = distinct(keys);
      return test((elements) => hasKeys(elements[index], wanted));
    },
  }),
];
