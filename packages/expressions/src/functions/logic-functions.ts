import { isList, isMissing, isPlainObject } from '@decision/values';
import { ELEMENTS_PER_STEP, type Evaluate, type Run } from '../run/run';
import { asCondition, kindOf } from '../values/operands';
import { type FunctionDefinition, special, strict } from './definition';
import { anything, type CallSite } from './parameters';

const group = 'logic';
const NOTHING: Evaluate = () => null;

export const logicFunctions: readonly FunctionDefinition[] = [
  special({
    name: 'coalesce',
    group,
    parameters: [anything('first'), anything('next')],
    variadic: true,
    meaning: 'The first argument that has a value; later ones are not evaluated. Null if none has.',
    example: 'coalesce(null, 5, 1 / 0)',
    result: 5,
    build: (_site, given) => (run) => {
      for (const evaluate of given) {
        const value = evaluate(run);
        if (!isMissing(value)) return value;
      }
      return null;
    },
  }),
  special({
    name: 'ifelse',
    group,
    parameters: [anything('condition'), anything('then'), anything('otherwise')],
    meaning:
      'The second argument where the condition holds, else the third; only that one is evaluated. The same as condition ? then : otherwise.',
    example: 'ifelse(3 > 2, "more", 1 / 0)',
    result: 'more',
    build: (site, [condition = NOTHING, then = NOTHING, otherwise = NOTHING]) => {
      const node = site.node.arguments[0] ?? site.node;
      return (run) => (asCondition(condition(run), node) ? then(run) : otherwise(run));
    },
  }),
  strict({
    name: 'is_empty',
    group,
    parameters: [anything()],
    meaning: 'Whether the value is null, "", an empty list or an object without keys.',
    example: 'is_empty("")',
    result: true,
    apply: (site, run, value) => isMissing(value) || value === '' || isEmptyContainer(value, site, run),
  }),
  strict({
    name: 'is_null',
    group,
    parameters: [anything()],
    reads: ['parts'],
    meaning: 'Whether there is no value: the field is absent or null.',
    example: 'is_null(null)',
    result: true,
    apply: (_site, _run, value) => isMissing(value),
  }),
  strict({
    name: 'type_of',
    group,
    parameters: [anything()],
    meaning: 'The type of the value: null, boolean, number, string, list or object.',
    example: 'type_of([1])',
    result: 'list',
    apply: (_site, _run, value) => kindOf(value),
  }),
];

/** To find one key of an object the platform lists all keys, so that work is charged. */
const isEmptyContainer = (value: unknown, site: CallSite, run: Run): boolean => {
  if (isList(value)) return value.length === 0;
  if (!isPlainObject(value)) return false;
  const count = Object.keys(value).length;
  run.charge(count / ELEMENTS_PER_STEP, site.node);
  return count === 0;
};
