import { type ConditionCell, type RuleField } from '@decision/contracts';
import { nearName } from '@decision/expressions';
import { type ArgumentContext } from '../operators/argument';
import { findOperator, operatorNames } from '../operators/operator-catalogue';
import { type Operator } from '../operators/operator-entry';
import { type Prepare } from '../operators/preparer';
import { type ValueResolver } from '../references/value-resolver';
import { frozenCopy } from '../values/frozen-copy';
import { isTooDeep, MAX_DEPTH } from '../values/json-depth';
import { type PlannedCell } from './planned-table';
import { type Place, type ProblemList, shownName } from '../problem-list';

export interface CellContext {
  readonly argumentContext: ArgumentContext;
  /** Prepares cells whose arguments refer to values. */
  readonly prepareResolved: Prepare;
  readonly values: ValueResolver;
  readonly problems: ProblemList;
}

/** Reads one condition; undefined where it matches everything, or has problems. */
export const readCell = (
  { type }: RuleField,
  field: number,
  { op, args = [] }: ConditionCell,
  place: Place,
  context: CellContext,
): PlannedCell | undefined => {
  const { problems } = context;
  const operator = findOperator(type, op);
  if (operator === undefined) {
    problems.addFault('unknown_operator', unknownOperator(type, op), place);
    return undefined;
  }
  if (op === 'any') return undefined;
  if (isTooDeep(args)) {
    problems.addFault('too_deep', `has arguments that nest deeper than ${MAX_DEPTH} levels`, place);
    return undefined;
  }
  return prepareCell(operator, field, frozenCopy(args) as readonly unknown[], place, context); // a copy of a list is a list
};

const unknownOperator = (type: RuleField['type'], op: string): string => {
  const valid = operatorNames(type);
  const near = nearName(op, valid);
  const hint = near === undefined ? '' : `; did you mean "${near}"`;
  return `has the operator "${shownName(op)}", which fields of type ${type} do not have${hint}; valid are: ${valid.join('; ')}`;
};

const prepareCell = (
  operator: Operator,
  field: number,
  args: readonly unknown[],
  place: Place,
  { argumentContext, prepareResolved, values, problems }: CellContext,
): PlannedCell | undefined => {
  const resolution = values.resolve(args);
  if (!resolution.ok) {
    problems.addFault(resolution.unresolved.code, resolution.unresolved.fault, place);
    return undefined;
  }
  const resolved = resolution.value as readonly unknown[]; // a list with other elements is a list
  const preparation = resolved === args ? operator.prepare(args, argumentContext) : prepareResolved(operator, resolved);
  if (preparation.ok) {
    const { condition } = preparation;
    return condition.kind === 'any' ? undefined : { field, operator, args, condition, isMoving: resolved !== args };
  }
  for (const { code, fault } of preparation.faults) problems.addFault(code, fault, place);
  return undefined;
};
