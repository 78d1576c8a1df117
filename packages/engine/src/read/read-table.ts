import { type RuleField, type RuleTable } from '@decision/contracts';
import { type CheckScope } from '@decision/expressions';
import { createPreparer } from '../operators/operator-entry';
import { createPatternReader, PatternAllowance } from '../operators/pattern';
import { functionIdsOf } from '../references/collect-references';
import { FormulaReader, readFunctionValues } from '../references/read-formula';
import { ValueResolver, type ValueSource } from '../references/value-reference';
import { ProblemList } from '../rule-problem';
import { type PlannedField, type PlannedOutput, type PlannedTable } from './planned-table';
import { readGroups } from './read-groups';
import { type CellContext, type PositionedField, readOutputFormula, readOutputValue, readRow } from './read-row';

/** Longer keys would nest objects deeper than outputs allow. */
const MAX_KEY_PARTS = 32;

/** Checks the keys of one side of a table: unique, with valid parts, and no output within another. */
const checkFieldKeys = (
  side: 'requestSchema' | 'responseSchema',
  fields: readonly RuleField[],
  problems: ProblemList,
): void => {
  const seen = new Set<string>();
  for (const [index, { key, type }] of fields.entries()) {
    const location = { path: `/${side}/${index}/key`, column: key };
    if (seen.has(key))
      problems.add('duplicate_field', `The field "${key}" stands twice in ${side}; remove one.`, location);
    seen.add(key);
    if (side === 'requestSchema' && type === 'function')
      problems.addFault(
        'misplaced_function_field',
        'is an input of type function, which only outputs can be',
        location,
      );
    const parts = key.split('.');
    if (parts.includes(''))
      problems.addFault('unknown_field', 'has a key with an empty part; a dot must stand between two names', location);
    if (parts.length > MAX_KEY_PARTS)
      problems.addFault('too_deep', `has a key of more than ${MAX_KEY_PARTS} parts`, location);
  }
  if (side === 'responseSchema') checkCollisions(fields, seen, problems);
};

/** `a` and `a.b` cannot both be outputs: one is a value where the other requires an object. */
const checkCollisions = (fields: readonly RuleField[], keys: ReadonlySet<string>, problems: ProblemList): void => {
  for (const [index, { key }] of fields.entries()) {
    const outer = beginningsOf(key).find((beginning) => keys.has(beginning));
    if (outer === undefined) continue;
    const message = `The outputs "${outer}" and "${key}" collide: one is a value where the other needs an object. Rename one.`;
    problems.add('colliding_fields', message, { path: `/responseSchema/${index}/key`, column: key });
  }
};

/** `a` and `a.b` of `a.b.c`. */
const beginningsOf = (key: string): readonly string[] => {
  const parts = key.split('.').slice(0, MAX_KEY_PARTS);
  return parts.slice(0, -1).map((_part, end) => parts.slice(0, end + 1).join('.'));
};

interface TableReading {
  /** Only to be used if there are no problems. */
  readonly planned: PlannedTable;
  readonly problems: ProblemList;
}

/**
 * Reads a whole table, including disabled rows, until there are too many problems. Everything that could not be executed is a problem:
 * docs/adr/0008-refuse-what-is-not-executed.md.
 */
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

/** Rows times outputs: every row has a cell for each output, even if it is written as `{}`. */
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

/** Scopes of formulas, by location. */
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

/** A computed default takes precedence over a constant one. */
const readFallback = (
  { key, defaultValue, defaultComputedValue }: RuleField,
  path: string,
  reader: FormulaReader | undefined,
  context: CellContext,
): PlannedOutput | undefined => {
  if (typeof defaultComputedValue === 'string' && defaultComputedValue.trim() !== '') {
    const location = { path: `${path}/defaultComputedValue`, column: key };
    return readOutputFormula(defaultComputedValue, reader, location, context.problems);
  }
  if (defaultValue === undefined || defaultValue === null) return undefined;
  return readOutputValue(defaultValue, { path: `${path}/defaultValue`, column: key }, context);
};
