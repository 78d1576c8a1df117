import { type GivenOf, type RecordOf, recordName, type ResourceFields } from '@decision/contracts';
import { type Bindings } from '../connection/query';

/** A row by the names of its columns, whose types the driver knows. */
export type DescribedRow = Readonly<Record<string, unknown>>;

/** What statements need to know of a table whose resource the contracts describe; its columns have the names of the fields. */
interface DescribedTable<F extends ResourceFields> {
  /** Select list of a {@link DescribedRow}. */
  readonly columns: string;
  /** Columns that the caller of a new resource gives, and their values in the same order, for an `insert`. */
  readonly givenColumns: string;
  readonly givenValues: string;
  /** The values as {@link givenValues} names them. */
  readonly bindGiven: (given: GivenOf<F>) => Bindings;
  /** Whatever else is selected is left out. */
  readonly toRecord: (row: DescribedRow) => RecordOf<F>;
}

export const describeTable = <F extends ResourceFields>(table: string, fields: F): DescribedTable<F> => {
  const columns = Object.keys(fields);
  const given = columns.filter((column) => fields[column]?.request !== undefined);
  return {
    columns: columns.map((column) => `${table}.${column}`).join(', '),
    givenColumns: given.join(', '),
    givenValues: given.map((column) => `:${column}`).join(', '),
    bindGiven: (values) => pick(given, values as Bindings), // such fields are texts, numbers, flags and lists of texts
    toRecord: (row) =>
      Object.fromEntries(columns.map((column) => [recordName(column), asRecorded(row[column])])) as RecordOf<F>, // a test compares columns and schemas
  };
};

const pick = (columns: readonly string[], values: Bindings): Bindings =>
  Object.fromEntries(columns.map((column) => [column, values[recordName(column)] ?? null]));

const asRecorded = (value: unknown): unknown => (value instanceof Date ? value.toISOString() : value);
