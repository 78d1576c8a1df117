import { type RuleField, type RuleTable } from '@decision/contracts';
import { type CheckScope } from '@decision/expressions';
import { createPatternReader, PatternAllowance } from '../operators/pattern';
import { createPreparer } from '../operators/preparer';
import { functionIdsOf } from '../references/function-bindings';
import { readFunctionValues } from '../references/function-values';
import { ValueResolver } from '../references/value-resolver';
import { type ValueSource } from '../references/value-source';
import { FormulaReader } from '../formula-reader';
import { type PlannedField, type PlannedOutput, type PlannedTable } from './planned-table';
import { ProblemList } from '../problem-list';
import { type CellContext } from './read-cell';
import { checkFieldKeys } from './read-fields';
import { readGroups } from './read-groups';
import { type PositionedField, readOutputFormula, readOutputValue, readRow } from './read-row';

interface TableReading {
  /** Meant to be used only where there are no problems. */
  readonly planned: PlannedTable;
  readonly problems: ProblemList;
}

/** Reads a whole table; every row is looked at, also those that are disabled, until there are too many problems. */
export const readTable = (table: RuleTable, values: ValueSource | undefined): TableReading => {
  const problems = new ProblemList();
  checkFieldKeys('requestSchema', table.requestSchema, problems);
  checkFieldKeys('responseSchema', table.responseSchema, problems);
  checkSize(table, problems);
  const functionIds = functionIdsOf(table);
  const scopes = scopesOf(table, functionIds, values, problems);
  const patterns = new PatternAllowance();
  const context = {
    argumentContext: { readPattern: createPatternReader(patterns) },
    prepareResolved: createPreparer(patterns),
    values: new ValueResolver(values),
    problems,
  };
  const inputs = positioned(table.requestSchema);
  const outputs = positioned(table.responseSchema);
  const groups = readGroups(table, { outputs, scopeOf: scopes.ofOutput, patterns, problems });
  const inputFormulas = new FormulaReader(scopes.ofInputs, patterns);
  const formulas = table.responseSchema.map(
    (_field, position) => new FormulaReader(() => scopes.ofOutput(position), patterns),
  );
  const planned: PlannedTable = {
    inputs: table.requestSchema.map((field, position) =>
      readField(field, `/requestSchema/${position}`, inputFormulas, context),
    ),
    outputs: table.responseSchema.map((field, position) =>
      readField(field, `/responseSchema/${position}`, formulas[position], context),
    ),
    groups,
    functionIds,
    strictInput: table.settings?.strictInput ?? false,
    rows: readRows(table, {
      ...context,
      inputs,
      outputs,
      formulas,
      groupIds: new Set(groups.keys()),
      rowIds: new Map(),
    }),
  };
  return { planned, problems };
};

/** Rows times outputs: every row has a place for each output, also one that is written as `{}`. */
const MAX_OUTPUT_CELLS = 5_000_000;

const checkSize = ({ conditions, responseSchema }: RuleTable, problems: ProblemList): void => {
  const cells = conditions.length * responseSchema.length;
  if (cells <= MAX_OUTPUT_CELLS) return;
  const message = `The rule has ${conditions.length} rows of ${responseSchema.length} outputs, which are ${cells} cells; ${MAX_OUTPUT_CELLS} are allowed.`;
  problems.add('too_large', message, { path: '/conditions' });
};

const readRows = (table: RuleTable, context: Parameters<typeof readRow>[2]): PlannedTable['rows'] => {
  const rows: PlannedTable['rows'][number][] = [];
  if (table.conditions.length * table.responseSchema.length > MAX_OUTPUT_CELLS) return rows;
  for (const [index, row] of table.conditions.entries()) {
    if (context.problems.isFull) break;
    rows.push(readRow(row, index, context));
  }
  return rows;
};

const positioned = (fields: readonly RuleField[]): ReadonlyMap<string, PositionedField> =>
  new Map(fields.map((field, position) => [field.key, { field, position }]));

/** Scopes of formulas, by their place. */
interface Scopes {
  readonly ofInputs: () => CheckScope;
  /** All inputs, and the outputs before a position. */
  readonly ofOutput: (position: number) => CheckScope;
}

const scopesOf = (
  { requestSchema, responseSchema }: RuleTable,
  functionIds: ReadonlyMap<string, string>,
  values: ValueSource | undefined,
  problems: ProblemList,
): Scopes => {
  const { functions, faults } = readFunctionValues(functionIds, values);
  for (const { name, fault } of faults) {
    problems.add('unknown_function', `The function value "${name}" ${fault}.`, { path: '/settings/functions' });
  }
  const signatures = new Map([...functions].map(([name, { parameters }]) => [name, { parameters: parameters.length }]));
  const inputKeys = requestSchema.map(({ key }) => key);
  const outputKeys = responseSchema.map(({ key }) => key);
  const scopeOf = (keys: readonly string[]): CheckScope => ({ fields: new Set(keys), functions: signatures });
  return {
    ofInputs: () => scopeOf(inputKeys),
    ofOutput: (position) => scopeOf([...inputKeys, ...outputKeys.slice(0, position)]),
  };
};

const readField = (
  field: RuleField,
  path: string,
  reader: FormulaReader | undefined,
  context: CellContext,
): PlannedField => ({ key: field.key, type: field.type, fallback: readFallback(field, path, reader, context) });

/** A computed default goes before a constant one. */
const readFallback = (
  { key, defaultValue, defaultComputedValue }: RuleField,
  path: string,
  reader: FormulaReader | undefined,
  context: CellContext,
): PlannedOutput | undefined => {
  if (typeof defaultComputedValue === 'string' && defaultComputedValue.trim() !== '') {
    const place = { path: `${path}/defaultComputedValue`, column: key };
    return readOutputFormula(defaultComputedValue, reader, place, context.problems);
  }
  if (defaultValue === undefined || defaultValue === null) return undefined;
  return readOutputValue(defaultValue, { path: `${path}/defaultValue`, column: key }, context);
};
