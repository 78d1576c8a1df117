import { finderOf, isList, isMissing, lengthOfText } from '@decision/values';
import { distinctValues, includesValue } from '../run/charged-values';
import { type Lambda } from '../run/lambda';
import { ELEMENTS_PER_STEP, type Run } from '../run/run';
import { describeKind } from '../values/operands';
import { sharedPlaces, shiftPoint } from '../values/round';
import { type FunctionDefinition, strict } from './definition';
import { counted } from './pieces';
import {
  anything,
  type CallSite,
  integer,
  lambda,
  list,
  listOrString,
  number,
  object,
  optional,
  resolvePosition,
} from './parameters';

const group = 'list';
const MOST = Number.MAX_SAFE_INTEGER;

const containsText = (site: CallSite, run: Run, text: string, sought: unknown): boolean => {
  if (typeof sought !== 'string') return site.failType(1, 'a string', sought);
  run.chargeText(text, site.node);
  run.chargeText(sought, site.node);
  return finderOf(sought)(text, 0) >= 0;
};

/** Numbers or strings in ascending order, stable, missing values last. */
const sortItems = (site: CallSite, run: Run, items: readonly unknown[], key: Lambda | undefined): unknown[] => {
  run.makeList(items.length, site.node);
  const keyed = items.map((item) => ({ item, key: key === undefined ? item : key.apply(run, item) }));
  const keys = keyed.map((entry) => entry.key);
  for (let rounds = Math.log2(items.length + 1); rounds > 0; rounds -= 1) run.chargeList(keys, site.node);
  checkSortable(site, keys);
  return keyed.sort((a, b) => compareKeys(a.key, b.key)).map((entry) => entry.item);
};

const checkSortable = (site: CallSite, keys: readonly unknown[]): void => {
  const present = keys.filter((key) => !isMissing(key));
  const type = typeof present[0];
  const stranger = present.find((key) => typeof key !== type || (type !== 'number' && type !== 'string'));
  if (stranger === undefined) return;
  site.fail('wrong_type', `expected only numbers or only strings, but one value is ${describeKind(stranger)}`, 0);
};

const compareKeys = (a: unknown, b: unknown): number => {
  if (isMissing(a) || isMissing(b)) return Number(isMissing(a)) - Number(isMissing(b));
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a !== 'string' || typeof b !== 'string' || a === b) return 0;
  return a < b ? -1 : 1;
};

const concatenate = (site: CallSite, run: Run, parts: readonly unknown[]): unknown[] => {
  run.charge(parts.length / ELEMENTS_PER_STEP, site.node);
  const length = parts.reduce<number>((sum, part) => sum + (isList(part) ? part.length : 1), 0);
  run.makeList(length, site.node);
  return parts.flat();
};

const rangeOf = (site: CallSite, run: Run, start: number, end: number, step: number): number[] => {
  if (step === 0) return site.fail('out_of_range', 'the step must not be 0', 2);
  const places = sharedPlaces([start, end, step]);
  const [first, limit, stride] = [shiftPoint(start, places), shiftPoint(end, places), shiftPoint(step, places)];
  const steps = Math.max(0, Math.ceil((limit - first) / stride));
  run.makeList(steps, site.node);
  // Only with numbers of too many digits may the last step be rounded up to the end.
  const last = first + (steps - 1) * stride;
  const length = steps > 0 && (stride > 0 ? last >= limit : last <= limit) ? steps - 1 : steps;
  return Array.from({ length }, (_, index) => (first + index * stride) / 10 ** places);
};

export const listFunctions: readonly FunctionDefinition[] = [
  strict({
    name: 'concat',
    group,
    parameters: [list('first'), list('second'), optional(list('third')), optional(list('fourth'))],
    meaning: 'The elements of up to four lists, one list after the other.',
    example: 'concat([1, 2], [3])',
    result: [1, 2, 3],
    apply: (site, run, first, second, third = [], fourth = []) => {
      run.makeList(first.length + second.length + third.length + fourth.length, site.node);
      return [...first, ...second, ...third, ...fourth];
    },
  }),
  strict({
    name: 'contains',
    group,
    parameters: [listOrString('container'), anything('sought')],
    meaning: 'Whether the list holds an equal element, or the string holds the other string.',
    example: 'contains("decision", "cis")',
    result: true,
    apply: (site, run, container, sought) =>
      typeof container === 'string'
        ? containsText(site, run, container, sought)
        : includesValue(container, sought, run, site.node),
  }),
  strict({
    name: 'flatten',
    group,
    parameters: [list()],
    meaning: 'The list with the elements of inner lists in their place; one level only.',
    example: 'flatten([1, [2, [3]]])',
    result: [1, 2, [3]],
    apply: concatenate,
  }),
  strict({
    name: 'keys',
    group,
    parameters: [object()],
    meaning: 'The keys of an object, in their order.',
    example: 'keys(order)',
    result: ['quantity', 'price'],
    apply: (site, run, given) => {
      const keys = Object.keys(given);
      run.makeList(keys.length, site.node);
      return keys;
    },
  }),
  strict({
    name: 'length',
    group,
    pieces: counted,
    parameters: [listOrString('value')],
    reads: ['parts'],
    meaning: 'The elements of a list, or the characters (Unicode code points) of a string.',
    example: 'length("naïve")',
    result: 5,
    apply: (site, run, given) => {
      if (typeof given !== 'string') return given.length;
      run.chargeText(given, site.node);
      return lengthOfText(given);
    },
  }),
  strict({
    name: 'range',
    group,
    parameters: [number('start'), number('end'), optional(number('step'))],
    meaning:
      'The numbers from start up to but not including end, by step (default 1), of the decimals as they are written.',
    example: 'range(0, 10, 4)',
    result: [0, 4, 8],
    apply: (site, run, start, end, step = 1) => rangeOf(site, run, start, end, step),
  }),
  strict({
    name: 'reverse',
    group,
    parameters: [list()],
    reads: ['answered', 'whole'],
    meaning: 'The list from its end to its start.',
    example: 'reverse([1, 2, 3])',
    result: [3, 2, 1],
    apply: (site, run, items) => {
      run.makeList(items.length, site.node);
      return items.toReversed();
    },
  }),
  strict({
    name: 'slice',
    group,
    parameters: [list(), integer('start', -MOST, MOST), optional(integer('end', -MOST, MOST))],
    reads: ['answered', 'whole'],
    meaning:
      'The elements from start (from 0) up to but not including end (default: the end); negative ones count from the end.',
    example: 'slice([1, 2, 3, 4], 1, -1)',
    result: [2, 3],
    apply: (site, run, items, start, end) => {
      const from = resolvePosition(start, items.length);
      const to = end === undefined ? items.length : resolvePosition(end, items.length);
      run.makeList(Math.max(0, to - from), site.node);
      return items.slice(from, to);
    },
  }),
  strict({
    name: 'sort',
    group,
    parameters: [list(), optional(lambda('key'))],
    reads: ['answered', 'whole'],
    meaning:
      'The list in ascending order of its numbers or strings, or of what the lambda makes of each element; null last; equal ones keep their order.',
    example: 'sort([3, 1, 2], x => -x)',
    result: [3, 2, 1],
    apply: sortItems,
  }),
  strict({
    name: 'unique',
    group,
    parameters: [list()],
    reads: ['answered', 'whole'],
    meaning: 'The list without elements that equal an earlier one.',
    example: 'unique([1, 2, 1, "1"])',
    result: [1, 2, '1'],
    apply: (site, run, items) => {
      run.makeList(items.length, site.node);
      return distinctValues(items, run, site.node);
    },
  }),
  strict({
    name: 'values',
    group,
    parameters: [object()],
    meaning: 'The values of an object, in the order of its keys.',
    example: 'values(order)',
    result: [2, 10],
    apply: (site, run, given) => {
      const values = Object.values(given);
      run.makeList(values.length, site.node);
      return values;
    },
  }),
];
