import {
  type GivenOf,
  type RecordOf,
  recordName,
  type ResourceField,
  type ResourceFields,
  ServiceError,
} from '@decision/contracts';
import { type Bindings } from '../connection/query';

/** A row by the names of its columns, whose types the driver knows. */
export type DescribedRow = Readonly<Record<string, unknown>>;

/** The parts of statements for a table whose resource the contracts describe; its columns have the names of the fields. */
interface DescribedTable<F extends ResourceFields> {
  /** Select list of a {@link DescribedRow}. */
  readonly columns: string;
  /** Columns that the caller of a new resource provides, and their values in the same order, for an `insert`. */
  readonly givenColumns: string;
  readonly givenValues: string;
  /** Bindings of {@link givenValues}. */
  readonly bindGiven: (given: GivenOf<F>) => Bindings;
  /** Other selected columns are left out. */
  readonly toRecord: (row: DescribedRow) => RecordOf<F>;
}

/** `joined` has the expressions of fields that are not columns of the table. */
export const describeTable = <F extends ResourceFields>(
  table: string,
  fields: F,
  joined: { readonly [Name in keyof F]?: string } = {},
): DescribedTable<F> => {
  const columns = Object.keys(fields);
  const given = columns.filter((column) => fields[column]?.request !== undefined);
  return {
    columns: columns.map((column) => selected(`${table}.${column}`, column, joined[column])).join(', '),
    givenColumns: given.join(', '),
    givenValues: given.map((column) => `:${column}`).join(', '),
    bindGiven: (values) => pick(given, values as Bindings), // such fields are texts, numbers, flags and lists of texts
    toRecord: (row) =>
      Object.fromEntries(columns.map((column) => [recordName(column), asRecorded(row[column])])) as RecordOf<F>, // a test compares columns and schemas
  };
};

const selected = (own: string, column: string, expression: string | undefined): string =>
  expression === undefined ? own : `${expression} as ${column}`;

/** How a field from callers is stored: texts and lists of texts as such, everything else as JSON. A test compares columns and schemas. */
export const storedType = ({ schema }: ResourceField): 'text' | 'text[]' | 'json' => {
  if (isText(schema)) return 'text';
  return schema['type'] === 'array' && isText(schema['items']) ? 'text[]' : 'json';
};

const isText = (schema: unknown): boolean => {
  const { type, anyOf } = schema as { readonly type?: string; readonly anyOf?: readonly { readonly type?: string }[] };
  return type === 'string' || (anyOf?.every((one) => one.type === 'string' || one.type === 'null') ?? false);
};

/** Converts a value to the binding for a column of its {@link storedType}. Throws `invalid_request` for JSON that is nested too deeply. */
export const toStored = (field: ResourceField, value: unknown): Bindings[string] =>
  storedType(field) === 'json' ? toJson(value) : (value as string | readonly string[] | null); // as its schema says

const toJson = (value: unknown): string => {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new ServiceError('invalid_request', 'The document is nested too deeply to be stored.', {}, { cause });
  }
};

const pick = (columns: readonly string[], values: Bindings): Bindings =>
  Object.fromEntries(columns.map((column) => [column, values[recordName(column)] ?? null]));

const asRecorded = (value: unknown): unknown => (value instanceof Date ? value.toISOString() : value);
