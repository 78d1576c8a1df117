import { type RuleTable, ServiceError } from '@decision/contracts';
import { fieldPath, fieldReader } from '../match/frame';
import { type PlannedRow, type PlannedTable } from '../read/planned-table';
import { readTable } from '../read/read-table';
import { formulasOf } from '../references/collect-references';
import { type ValueSource } from '../references/value-reference';
import { type RuleOutcome } from '../rule-outcome';
import { type RuleProblem } from '../rule-problem';
import { buildSearch } from './build-search';
import {
  Bindings,
  type CompiledGroup,
  type CompiledInput,
  type CompiledOutput,
  type CompiledRule,
  type MovingOutput,
  NOTHING,
  outputCellOf,
  PARTS,
  ReferenceCell,
  type RuleParts,
} from './compiled-rule';
import { retainedBytes } from './retained-bytes';

export interface CompileOptions {
  /** Values of the workspace. Without it, every reference to one is a problem. */
  readonly values?: ValueSource;
  /** How rows are found: by an index (the default), or by testing each of them, which is the reference that the index must agree with. */
  readonly search?: 'index' | 'scan';
}

/** Every problem of a table, at most 100, each with its location. If there are none, the table compiles with the same options. */
export const checkRule = (table: RuleTable, options: CompileOptions = {}): readonly RuleProblem[] =>
  readTable(table, options.values).problems.problems;

/**
 * Compiles a decision table. The result holds no reference into the document. Throws `rule_invalid` with every problem that
 * {@link checkRule} finds.
 */
export const compileRule = (table: RuleTable, options: CompileOptions = {}): CompiledRule => {
  const { planned, problems } = readTable(table, options.values);
  const [first] = problems.problems;
  if (first !== undefined) {
    const message = `The rule cannot be executed: ${first.message}`;
    throw new ServiceError('rule_invalid', message, { problems: problems.problems });
  }
  const formulas = [...formulasOf(table)];
  const rule = assemble(planned, options);
  const formulaCharacters = formulas.reduce((sum, { length }) => sum + length, 0);
  return { [PARTS]: { ...rule, bytes: retainedBytes(rule, formulaCharacters) } };
};

/** Estimated bytes that a compiled rule retains, including answers that it will cache. */
export const retainedBytesOf = (rule: CompiledRule): number => rule[PARTS].bytes;

const assemble = (planned: PlannedTable, { values, search = 'index' }: CompileOptions): Omit<RuleParts, 'bytes'> => {
  const types = planned.inputs.map(({ type }) => type);
  const rows = orderRows(planned.rows);
  const inputs = planned.inputs.map(({ key, type, fallback }): CompiledInput => ({
    reader: fieldReader(key),
    type,
    fallback: outputCellOf(fallback),
  }));
  const outputs = planned.outputs.map(({ key, fallback }, position): CompiledOutput => ({
    path: fieldPath(key),
    fallback: outputCellOf(fallback),
    cells: rows.map((row) => outputCellOf(row.outputs[position])),
  }));
  const readers = inputs.map(({ reader }) => reader);
  const searchPlan = { rows, readers, types, search };
  const bindings = new Bindings({
    source: values,
    search: rows.some(({ cells }) => cells.some(({ isMoving }) => isMoving)) ? searchPlan : undefined,
    outputs: movingOutputs(inputs, outputs, rows),
    functionIds: planned.functionIds,
  });
  return {
    rowCount: rows.length,
    inputs,
    inputsWithFallback: inputs.flatMap(({ fallback }, position) => (fallback === NOTHING ? [] : [position])),
    outputs,
    partsPerAnswer: outputs.reduce((sum, { path }) => sum + path.segments.length, 0),
    outputPositions: new Map(planned.outputs.map(({ key }, position) => [key, position])),
    rowIndexes: Uint32Array.from(rows, ({ index }) => index),
    orRows: Uint8Array.from(rows, ({ isOr }) => Number(isOr)),
    groupsByTurn: groupsByTurn(rows, planned),
    strictInput: planned.strictInput,
    bindings,
    // Conditions that refer to values are bound now, so that the first answer need not rebuild the search.
    search: bindings.refresh()?.search ?? buildSearch(searchPlan, ({ condition }) => condition),
    answers: new Array<RuleOutcome | undefined>(rows.length + 1).fill(undefined),
  };
};

/**
 * The rows that take part, in the order of trial: higher priority first, then table order. The rows of a group follow its first row, since they
 * are evaluated together. That row determines the turn of the group even when it is disabled: disabling a losing row moves nothing.
 */
const orderRows = (rows: readonly PlannedRow[]): readonly PlannedRow[] => {
  const byPriority = [...rows].sort((a, b) => b.priority - a.priority); // stable: table order within a priority
  const members = new Map<string, PlannedRow[]>();
  const units = byPriority.flatMap((row) => {
    if (row.groupId === undefined) return [[row]];
    const known = members.get(row.groupId);
    if (known !== undefined) {
      known.push(row);
      return [];
    }
    const unit = [row];
    members.set(row.groupId, unit);
    return [unit];
  });
  return units.flat().filter(({ isEnabled }) => isEnabled);
};

/** Empty if no row belongs to a group. */
const groupsByTurn = (
  rows: readonly PlannedRow[],
  { groups }: PlannedTable,
): readonly (CompiledGroup | undefined)[] => {
  const compiled = new Map<string, CompiledGroup>();
  rows.forEach(({ groupId }, turn) => {
    const planned = groupId === undefined ? undefined : groups.get(groupId);
    if (planned === undefined) return;
    const start = compiled.get(planned.id)?.start ?? turn;
    compiled.set(planned.id, { ...planned, start, end: turn + 1 });
  });
  return compiled.size === 0
    ? []
    : rows.map(({ groupId }) => (groupId === undefined ? undefined : compiled.get(groupId)));
};

const movingOutputs = (
  inputs: readonly CompiledInput[],
  outputs: readonly CompiledOutput[],
  rows: readonly PlannedRow[],
): readonly MovingOutput[] => [
  ...inputs.flatMap(({ reader, fallback }) => movingOutput(fallback, reader.key, undefined)),
  ...outputs.flatMap(({ path, fallback, cells }) => [
    ...movingOutput(fallback, path.key, undefined),
    ...cells.flatMap((cell, turn) => movingOutput(cell, path.key, rows[turn]?.index)),
  ]),
];

const movingOutput = (cell: unknown, column: string, row: number | undefined): readonly MovingOutput[] =>
  cell instanceof ReferenceCell ? [{ cell, column, row }] : [];
