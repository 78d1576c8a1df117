import { type ResponseCell, type RuleField, type RuleRow } from '@decision/contracts';
import { holdsReference } from '../references/value-reference';
import { isTooDeep, MAX_DEPTH } from '../values/json-depth';
import { type FormulaReader } from '../formula-reader';
import { type PlannedCell, type PlannedOutput, type PlannedRow } from './planned-table';
import { offeredNames, type Place, pointerPart, type ProblemList, shownName } from '../problem-list';
import { type CellContext, readCell } from './read-cell';
import { readSchedule } from './schedule';

/** A field with its position on its side of the table. */
export interface PositionedField {
  readonly field: RuleField;
  readonly position: number;
}

interface RowContext extends CellContext {
  readonly inputs: ReadonlyMap<string, PositionedField>;
  readonly outputs: ReadonlyMap<string, PositionedField>;
  /** By position of the output: reads formulas that see all inputs and the outputs before it. */
  readonly formulas: readonly FormulaReader[];
  readonly groupIds: ReadonlySet<string>;
  /** Ids seen so far and the rows that have them; reading a row adds to it. */
  readonly rowIds: Map<string, number>;
}

/** Reads one row, in the order in which a reader meets its problems. */
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
    const place = { path: `/conditions/${index}/id`, row: index };
    problems.addFault('duplicate_row_id', `has the id "${id}" of row ${first}; ids of rows are their own`, place);
  }
};

const readCells = ({ request = {} }: RuleRow, index: number, context: RowContext): readonly PlannedCell[] => {
  const cells: PlannedCell[] = [];
  for (const key of Object.keys(request)) {
    const cell = request[key];
    if (cell === undefined) continue;
    const known = context.inputs.get(key);
    const place = { path: `/conditions/${index}/request/${pointerPart(key)}`, row: index, column: key };
    if (known === undefined) addUnknownField('input', context.inputs, place, context.problems);
    else {
      const read = readCell(known.field, known.position, cell, place, context);
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
    const place = { path: `/conditions/${index}/response/${pointerPart(key)}`, row: index, column: key };
    if (known === undefined) addUnknownField('output', context.outputs, place, context.problems);
    else outputs[known.position] = readOutputCell(known, cell, { ...place, path: `${place.path}/value` }, context);
  }
  return outputs;
};

/** Undefined where the cell gives nothing: it has no value, or is an empty formula. */
const readOutputCell = (
  { field, position }: PositionedField,
  { value }: ResponseCell,
  place: Place,
  context: RowContext,
): PlannedOutput | undefined => {
  if (value === undefined) return undefined;
  if (field.type !== 'function') return readOutputValue(value, place, context);
  if (value === null || value === '') return undefined;
  if (typeof value === 'string') return readOutputFormula(value, context.formulas[position], place, context.problems);
  context.problems.addFault('invalid_formula', 'must hold a formula, which is text', place);
  return undefined;
};

/** Reads a value that stands in a table for an output, or as its default. */
export const readOutputValue = (value: unknown, place: Place, { problems, values }: CellContext): PlannedOutput => {
  if (isTooDeep(value)) {
    problems.addFault('too_deep', `has a value that nests deeper than ${MAX_DEPTH} levels`, place);
    return { kind: 'constant', value: null };
  }
  if (!holdsReference(value)) return { kind: 'constant', value };
  const resolution = values.resolve(value);
  if (!resolution.ok) problems.addFault(resolution.unresolved.code, resolution.unresolved.fault, place);
  return { kind: 'reference', template: value };
};

export const readOutputFormula = (
  text: string,
  reader: FormulaReader | undefined,
  place: Place,
  problems: ProblemList,
): PlannedOutput | undefined => {
  const reading = reader?.read(text);
  if (reading?.ok === true) return { kind: 'formula', formula: reading.formula };
  for (const problem of reading?.problems ?? []) problems.addFormulaProblem(problem, place);
  return undefined;
};

const readGroupId = ({ settings }: RuleRow, index: number, { groupIds, problems }: RowContext): string | undefined => {
  const groupId = settings?.groupId;
  if (groupId === undefined || groupId === null || groupId === '') return undefined;
  if (groupIds.has(groupId)) return groupId;
  const known = offeredNames(groupIds, groupIds.size);
  const place = { path: `/conditions/${index}/settings/groupId`, row: index };
  problems.addFault(
    'unknown_group',
    `belongs to the group "${shownName(groupId)}", which the rule does not have; it has: ${known}`,
    place,
  );
  return undefined;
};

const addUnknownField = (
  kind: 'input' | 'output',
  known: ReadonlyMap<string, PositionedField>,
  place: Place,
  problems: ProblemList,
): void => {
  if (problems.isFull) return;
  const names = offeredNames(known.keys(), known.size);
  const message = `Row ${place.row ?? 0} names the ${kind} "${shownName(place.column ?? '')}", which the rule does not have; it has: ${names}.`;
  problems.add('unknown_field', message, place);
};
