import { isMissing } from '@decision/values';
import { type Lambda } from '../run/lambda';
import { type Run } from '../run/run';
import { asCondition } from '../values/operands';
import { strict } from './definition';
import { counted, ofEvery, ofSome } from './pieces';
import { type CallSite, lambda, list, optional } from './parameters';

const group = 'list';

/** Whether the condition holds for an element. */
const holds = (site: CallSite, run: Run, condition: Lambda, item: unknown): boolean =>
  asCondition(condition.apply(run, item), site.node.arguments[1] ?? site.node);

const filterItems = (site: CallSite, run: Run, items: readonly unknown[], condition: Lambda): unknown[] => {
  run.makeList(0, site.node);
  const kept = items.filter((item) => holds(site, run, condition, item));
  run.makeList(kept.length, site.node);
  return kept;
};

const mapItems = (site: CallSite, run: Run, items: readonly unknown[], selector: Lambda): unknown[] => {
  run.makeList(items.length, site.node);
  return items.map((item) => selector.apply(run, item));
};

/** The element nearest to one end, its field, or the nearest one for which the condition holds. */
const nearest = (
  site: CallSite,
  run: Run,
  items: readonly unknown[],
  selector: Lambda | undefined,
  fromEnd: boolean,
): unknown => {
  const item = items.at(fromEnd ? -1 : 0);
  if (selector === undefined) return item ?? null;
  if (selector.isField) return items.length === 0 ? null : selector.apply(run, item);
  const matches = (candidate: unknown): boolean => holds(site, run, selector, candidate);
  return (fromEnd ? items.findLast(matches) : items.find(matches)) ?? null;
};

const FIELD_OR_CONDITION = 'A second argument in quotes that only names a field';

/** Functions that apply a lambda, or a selector in quotes, to the elements of a list. */
export const selectionFunctions = [
  strict({
    name: 'all',
    group,
    pieces: ofEvery,
    parameters: [list(), lambda()],
    reads: ['parts'],
    meaning: 'Whether the condition holds of every element; true for an empty list.',
    example: 'all([2, 4], x => x > 1)',
    result: true,
    apply: (site, run, items, condition) => items.every((item) => holds(site, run, condition, item)),
  }),
  strict({
    name: 'any',
    group,
    pieces: ofSome,
    parameters: [list(), lambda()],
    reads: ['parts'],
    meaning: 'Whether the condition holds of some element.',
    example: 'any([2, 4], x => x > 3)',
    result: true,
    apply: (site, run, items, condition) => items.some((item) => holds(site, run, condition, item)),
  }),
  strict({
    name: 'count',
    group,
    pieces: counted,
    parameters: [list(), optional(lambda())],
    reads: ['parts'],
    meaning: `How many elements there are, or of how many the condition holds. ${FIELD_OR_CONDITION} counts the elements that have a value there.`,
    example: 'count([5, 12, 20], x => x > 10)',
    result: 2,
    apply: (site, run, items, condition) => {
      if (condition === undefined) return items.length;
      const counts = (item: unknown): boolean =>
        condition.isField ? !isMissing(condition.apply(run, item)) : holds(site, run, condition, item);
      return items.reduce<number>((total, item) => (counts(item) ? total + 1 : total), 0);
    },
  }),
  strict({
    name: 'filter',
    group,
    isElementwise: true,
    parameters: [list(), lambda()],
    reads: ['answered', 'parts'],
    meaning: 'The elements for which the condition holds.',
    example: 'filter([1, 5, 3], x => x > 2)',
    result: [5, 3],
    apply: filterItems,
  }),
  strict({
    name: 'first',
    group,
    parameters: [list(), optional(lambda())],
    reads: ['selected', 'whole'],
    meaning: `The first element, or the first for which the condition holds; otherwise null. ${FIELD_OR_CONDITION} answers that field of the first element.`,
    example: 'first([1, 5, 3], x => x > 2)',
    result: 5,
    apply: (site, run, items, selector) => nearest(site, run, items, selector, false),
  }),
  strict({
    name: 'last',
    group,
    parameters: [list(), optional(lambda())],
    reads: ['selected', 'whole'],
    meaning: 'As first, from the other end.',
    example: 'last([1, 5, 3])',
    result: 3,
    apply: (site, run, items, selector) => nearest(site, run, items, selector, true),
  }),
  strict({
    name: 'list',
    group,
    isElementwise: true,
    parameters: [list(), optional(lambda())],
    reads: ['selected', 'whole'],
    meaning: `The list, or the elements for which the condition holds. ${FIELD_OR_CONDITION} answers the list of its values.`,
    example: 'list([1, 5], x => x > 2)',
    result: [5],
    apply: (site, run, items, selector) => {
      if (selector === undefined) return items;
      return selector.isField ? mapItems(site, run, items, selector) : filterItems(site, run, items, selector);
    },
  }),
  strict({
    name: 'map',
    group,
    isElementwise: true,
    parameters: [list(), lambda('change')],
    reads: ['parts', 'answered'],
    meaning: 'The list of what the lambda makes of each element.',
    example: 'map([1, 2], x => x * 10)',
    result: [10, 20],
    apply: mapItems,
  }),
];
