import { type ConditionCell, type ResponseCell, type RuleField, type RuleRow } from '@decision/contracts';
import { nearName } from '@decision/expressions';
import { type ArgumentContext } from '../operators/argument';
import { findOperator, operatorNames } from '../operators/operator-catalogue';
import { type Operator } from '../operators/operator-entry';
import { type Prepare } from '../operators/operator-entry';
import { type FormulaReader } from '../references/read-formula';
import { holdsReference, type ValueResolver } from '../references/value-reference';
import { offeredNames, type TableLocation, pointerPart, type ProblemList, shownName } from '../rule-problem';
import { frozenCopy, isTooDeep, MAX_DEPTH } from '../values/json-value';
import { type PlannedCell, type PlannedOutput, type PlannedRow } from './planned-table';
import { readSchedule } from './schedule';

export interface CellContext {
  readonly argumentContext: ArgumentContext;
  /** Prepares cells whose arguments refer to values. */
  readonly prepareResolved: Prepare;
  readonly values: ValueResolver;
  readonly problems: ProblemList;
}

/** Reads one condition; undefined if it matches everything, or has problems. */
const readCell = (
  { type }: RuleField,
  field: number,
  { op, args = [] }: ConditionCell,
  location: TableLocation,
  context: CellContext,
): PlannedCell | undefined => {
  const { problems } = context;
  const operator = findOperator(type, op);
  if (operator === undefined) {
    problems.addFault('unknown_operator', unknownOperator(type, op), location);
    return undefined;
  }
  if (op === 'any') return undefined;
  if (isTooDeep(args)) {
    problems.addFault('too_deep', `has arguments that nest deeper than ${MAX_DEPTH} levels`, location);
    return undefined;
  }
  return prepareCell(operator, field, frozenCopy(args) as readonly unknown[], location, context); // a copy of a list is a list
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
  location: TableLocation,
  { argumentContext, prepareResolved, values, problems }: CellContext,
): PlannedCell | undefined => {
  const resolution = values.resolve(args);
  if (!resolution.ok) {
    problems.addFault(resolution.unresolved.code, resolution.unresolved.fault, location);
    return undefined;
  }
  const resolved = resolution.value as readonly unknown[]; // a list with other elements is a list
  const preparation = resolved === args ? operator.prepare(args, argumentContext) : prepareResolved(operator, resolved);
  if (preparation.ok) {
    const { condition } = preparation;
    return condition.kind === 'any' ? undefined : { field, operator, args, condition, isMoving: resolved !== args };
  }
  for (const { code, fault } of preparation.faults) problems.addFault(code, fault, location);
  return undefined;
};

/** A field with its position on its side of the table. */
export interface PositionedField {
  readonly field: RuleField;
  readonly position: number;
}

interface RowContext extends CellContext {
  readonly inputs: ReadonlyMap<string, PositionedField>;
  readonly outputs: ReadonlyMap<string, PositionedField>;
  /** By position of the output: reads formulas that see all inputs and the previous outputs. */
  readonly formulas: readonly FormulaReader[];
  readonly groupIds: ReadonlySet<string>;
  /** Ids seen so far, with their rows; reading a row adds to it. */
  readonly rowIds: Map<string, number>;
}

/** Reads one row; problems are in reading order. */
export const readRow = (row: RuleRow, index: number, context: RowContext): PlannedRow => {
  const { settings } = row;
  checkId(row, index, context);
  return {
    index,
    isEnabled: settings?.enabled !== false,
    cells: readCells(row, index, context),
    outputs: readOutputs(row, index, context),
    isOr: settings?.or ?? false,
    priority: settings?.priority ?? 0,
    groupId: readGroupId(row, index, context),
    schedule: readSchedule(
      settings?.schedule,
      { path: `/conditions/${index}/settings/schedule`, row: index },
      context.problems,
    ),
  };
};

const checkId = ({ id }: RuleRow, index: number, { rowIds, problems }: RowContext): void => {
  if (id === undefined) return;
  const first = rowIds.get(id);
  if (first === undefined) rowIds.set(id, index);
  else {
    const location = { path: `/conditions/${index}/id`, row: index };
    problems.addFault('duplicate_row_id', `has the id "${id}" of row ${first}; ids of rows are their own`, location);
  }
};

const readCells = ({ request = {} }: RuleRow, index: number, context: RowContext): readonly PlannedCell[] => {
  const cells: PlannedCell[] = [];
  for (const key of Object.keys(request)) {
    const cell = request[key];
    if (cell === undefined) continue;
    const known = context.inputs.get(key);
    const location = { path: `/conditions/${index}/request/${pointerPart(key)}`, row: index, column: key };
    if (known === undefined) addUnknownField('input', context.inputs, location, context.problems);
    else {
      const read = readCell(known.field, known.position, cell, location, context);
      if (read) cells.push(read);
    }
  }
  return cells;
};

const readOutputs = (
  { response = {} }: RuleRow,
  index: number,
  context: RowContext,
): readonly (PlannedOutput | undefined)[] => {
  const outputs = new Array<PlannedOutput | undefined>(context.outputs.size).fill(undefined);
  for (const key of Object.keys(response)) {
    const cell = response[key];
    if (cell === undefined) continue;
    const known = context.outputs.get(key);
    const location = { path: `/conditions/${index}/response/${pointerPart(key)}`, row: index, column: key };
    if (known === undefined) addUnknownField('output', context.outputs, location, context.problems);
    else
      outputs[known.position] = readOutputCell(known, cell, { ...location, path: `${location.path}/value` }, context);
  }
  return outputs;
};

/** Undefined if the cell has no value or an empty formula. */
const readOutputCell = (
  { field, position }: PositionedField,
  { value }: ResponseCell,
  location: TableLocation,
  context: RowContext,
): PlannedOutput | undefined => {
  if (value === undefined) return undefined;
  if (field.type !== 'function') return readOutputValue(value, location, context);
  if (value === null || value === '') return undefined;
  if (typeof value === 'string')
    return readOutputFormula(value, context.formulas[position], location, context.problems);
  context.problems.addFault('invalid_formula', 'must hold a formula, which is text', location);
  return undefined;
};

/** Reads a value of a table for an output, or its default. */
export const readOutputValue = (
  value: unknown,
  location: TableLocation,
  { problems, values }: CellContext,
): PlannedOutput => {
  if (isTooDeep(value)) {
    problems.addFault('too_deep', `has a value that nests deeper than ${MAX_DEPTH} levels`, location);
    return { kind: 'constant', value: null };
  }
  if (!holdsReference(value)) return { kind: 'constant', value };
  const resolution = values.resolve(value);
  if (!resolution.ok) problems.addFault(resolution.unresolved.code, resolution.unresolved.fault, location);
  return { kind: 'reference', template: value };
};

export const readOutputFormula = (
  text: string,
  reader: FormulaReader | undefined,
  location: TableLocation,
  problems: ProblemList,
): PlannedOutput | undefined => {
  const reading = reader?.read(text);
  if (reading?.ok === true) return { kind: 'formula', formula: reading.formula };
  for (const problem of reading?.problems ?? []) problems.addFormulaProblem(problem, location);
  return undefined;
};

const readGroupId = ({ settings }: RuleRow, index: number, { groupIds, problems }: RowContext): string | undefined => {
  const groupId = settings?.groupId;
  if (groupId === undefined || groupId === null || groupId === '') return undefined;
  if (groupIds.has(groupId)) return groupId;
  const known = offeredNames(groupIds, groupIds.size);
  const location = { path: `/conditions/${index}/settings/groupId`, row: index };
  problems.addFault(
    'unknown_group',
    `belongs to the group "${shownName(groupId)}", which the rule does not have; it has: ${known}`,
    location,
  );
  return undefined;
};

const addUnknownField = (
  kind: 'input' | 'output',
  known: ReadonlyMap<string, PositionedField>,
  location: TableLocation,
  problems: ProblemList,
): void => {
  if (problems.isFull) return;
  const names = offeredNames(known.keys(), known.size);
  const message = `Row ${location.row ?? 0} names the ${kind} "${shownName(location.column ?? '')}", which the rule does not have; it has: ${names}.`;
  problems.add('unknown_field', message, location);
};
