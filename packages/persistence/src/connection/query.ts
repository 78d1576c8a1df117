import { type Bindings } from './bind-names';

export type { Bindings } from './bind-names';

/** Runner of statements: a transaction, or a connection outside of one. */
export interface StatementRunner {
  raw<Result = { readonly rows: unknown[] }>(sql: string, bindings?: Bindings): Promise<Result>;
}

/** One transaction of one workspace; it commits when the work that received it succeeds. Statements run one after the other, as they come. */
export interface Transaction extends StatementRunner {
  /** Runs work whose failure undoes that work alone, and is thrown on. */
  savepoint<T>(work: (savepoint: Transaction) => Promise<T>): Promise<T>;
}

/** Runs one statement and answers its rows, whose shape the caller states. */
export const query = async <Row>(
  runner: StatementRunner,
  sql: string,
  bindings: Bindings = {},
): Promise<readonly Row[]> => (await runner.raw<{ rows: Row[] }>(sql, bindings)).rows;
