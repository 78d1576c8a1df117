import { type Knex } from 'knex';

/** One transaction of one workspace; it commits when the work that received it succeeds. */
export type Transaction = Knex.Transaction;

/** Values by the names that a statement calls them: `:name`. Cast with `cast(:name as type)`, never with `::`. */
export type Bindings = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

/** What runs a statement: a transaction, or a connection outside of one. */
export interface StatementRunner {
  raw(sql: string, bindings: Knex.ValueDict): PromiseLike<unknown>;
}

/** Runs one statement and answers its rows, whose shape the caller states. */
export const query = async <Row>(
  runner: StatementRunner,
  sql: string,
  bindings: Bindings = {},
): Promise<readonly Row[]> => {
  const result = (await runner.raw(sql, bindings as Knex.ValueDict)) as { rows: Row[] }; // its types lack readonly arrays, and rows
  return result.rows;
};
