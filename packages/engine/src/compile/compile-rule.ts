import { type ResponseCell, type RuleField, type RuleRow, type RuleTable, ServiceError } from '@decision/contracts';
import { checkRule } from '../check/check-rule';
import { ANY, findOperator } from '../operators/operator-catalogue';
import { isOfType } from '../value-type';
import {
  type CompiledCell,
  type CompiledField,
  type CompiledOutput,
  type CompiledRow,
  type CompiledRule,
  type OutputValue,
} from './compiled-rule';
import { fieldPath } from './field-path';
import { frozenCopy } from './frozen-copy';
import { compileSchedule } from './schedule';

/**
 * Compiles a decision table. The result is immutable, holds no reference into the document, and is safe to share. Throws
 * `rule_invalid` with every problem that {@link checkRule} finds.
 */
export const compileRule = (table: RuleTable): CompiledRule => {
  const problems = checkRule(table);
  if (problems.length > 0) {
    throw new ServiceError('rule_invalid', `The rule cannot be executed: ${problems[0]?.message ?? ''}`, { problems });
  }
  const fields = table.requestSchema.map(compileField);
  const positions = new Map(table.requestSchema.map(({ key }, position) => [key, position]));
  const rows = table.conditions.flatMap((row, index) => (isEnabled(row) ? [{ row, index }] : [])).sort(byPriority);
  return {
    fields,
    outputs: table.responseSchema.map(compileOutput),
    rows: rows.map(({ row, index }) =>
      compileRow(row, index, { fields, positions, responseSchema: table.responseSchema }),
    ),
    strictInput: table.settings?.strictInput ?? false,
  };
};

const compileField = ({ key, type }: RuleField): CompiledField => ({ path: fieldPath(key), type });

const compileOutput = ({ key, defaultValue }: RuleField): CompiledOutput => ({
  path: fieldPath(key),
  defaultValue:
    defaultValue === undefined || defaultValue === null ? NOTHING : { given: true, value: frozenCopy(defaultValue) },
});

const NOTHING: OutputValue = { given: false };

const isEnabled = ({ settings }: RuleRow): boolean => settings?.enabled !== false;

interface NumberedRow {
  readonly row: RuleRow;
  readonly index: number;
}

const priorityOf = ({ row }: NumberedRow): number => row.settings?.priority ?? 0;

/** Higher priority first; the sort is stable, so table order decides between equals. */
const byPriority = (a: NumberedRow, b: NumberedRow): number => priorityOf(b) - priorityOf(a);

interface RowSurroundings {
  readonly fields: readonly CompiledField[];
  readonly positions: ReadonlyMap<string, number>;
  readonly responseSchema: readonly RuleField[];
}

const compileRow = (
  row: RuleRow,
  index: number,
  { fields, positions, responseSchema }: RowSurroundings,
): CompiledRow => ({
  index,
  cells: Object.entries(row.request ?? {}).flatMap(([key, { op, args = [] }]) => {
    const position = positions.get(key);
    const field = position === undefined ? undefined : fields[position];
    return op === ANY || position === undefined || field === undefined ? [] : [compileCell(position, field, op, args)];
  }),
  isOr: row.settings?.or ?? false,
  schedule: compileSchedule(row.settings?.schedule),
  outputs: responseSchema.map(({ key }) => outputOf(row.response, key)),
});

const compileCell = (position: number, { type }: CompiledField, op: string, args: readonly unknown[]): CompiledCell => {
  const entry = findOperator(type, op);
  // checkRule has found the operator and checked its arguments, which is what makes them what `compile` takes.
  const test = entry?.compile(frozenCopy(args) as never) as ((value: unknown) => boolean) | undefined;
  const acceptsAbsent = entry?.acceptsAbsent ?? false;
  return {
    field: position,
    op,
    args: frozenCopy(args),
    matches: (value) =>
      value === undefined || value === null ? acceptsAbsent : isOfType(value, type) && (test?.(value) ?? false),
  };
};

const outputOf = (response: Readonly<Record<string, ResponseCell>> | undefined, key: string): OutputValue => {
  const cell = response !== undefined && Object.hasOwn(response, key) ? response[key] : undefined;
  return cell === undefined || cell.value === undefined ? NOTHING : { given: true, value: frozenCopy(cell.value) };
};
