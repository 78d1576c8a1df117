/** Values by their names in a statement: `:name`. Cast with `cast(:name as type)`, never with `::`. */
export type Bindings = Readonly<Record<string, BoundValue>>;
type BoundValue = string | number | boolean | null | readonly string[];

/** A statement whose names are numbered. */
export interface BoundStatement {
  readonly text: string;
  readonly values: readonly BoundValue[];
  /** Name under which connections keep it prepared; undefined: it is planned anew each time. */
  readonly name: string | undefined;
}

interface NumberedStatement {
  readonly text: string;
  readonly names: readonly string[];
  readonly id: number;
  uses: number;
}

/** How often a process runs a statement before its connections prepare it: planning costs a short statement more than running it. */
const USES_BEFORE_PREPARED = 10;
/** A prepared plan is independent of lengths: statements with longer lists are planned for the actual list. */
const LONGEST_LIST_PREPARED = 16;

/** Statements are constants of this package; composed statements of callers must not fill the memory. */
const MOST_STATEMENTS = 1_000;
/** Statements of which all names had values. */
const numbered = new Map<string, NumberedStatement>();

/**
 * Numbers the names of a statement, each once for all its occurrences, so that a list is sent once. A name without a value is left
 * unchanged: it may be part of a literal.
 */
export const bindNames = (sql: string, bindings: Bindings): BoundStatement => {
  const known = numbered.get(sql);
  const isKnown = known?.names.every((name) => Object.hasOwn(bindings, name)) === true;
  const statement = isKnown ? known : number(sql, bindings);
  const values = statement.names.map((name) => bindings[name] ?? null);
  return { text: statement.text, values, name: nameOf(statement, values) };
};

const nameOf = (statement: NumberedStatement, values: readonly unknown[]): string | undefined => {
  statement.uses += 1;
  if (statement.uses <= USES_BEFORE_PREPARED) return undefined;
  const isLong = values.some((value) => Array.isArray(value) && value.length > LONGEST_LIST_PREPARED);
  return isLong ? undefined : `statement_${statement.id}`;
};

/** Never reused: a connection may have an earlier statement of the same name. */
let lastId = 0;

const number = (sql: string, bindings: Bindings): NumberedStatement => {
  const names: string[] = [];
  let leavesNames = false;
  const text = sql.replace(/(?<![:\w]):([a-z_]\w*)/g, (place, name: string) => {
    if (!Object.hasOwn(bindings, name)) {
      leavesNames = true;
      return place;
    }
    const known = names.indexOf(name);
    return `$${known < 0 ? names.push(name) : known + 1}`;
  });
  const statement = { text, names, id: (lastId += 1), uses: 0 };
  if (leavesNames) return statement;
  if (numbered.size >= MOST_STATEMENTS) numbered.clear();
  numbered.set(sql, statement);
  return statement;
};

/** The table that a statement writes, otherwise its source: `update instances`, `select find_api_key`. Contains only names of the schema. */
export const summarise = (sql: string): string => {
  const [, verb, table] = WRITES.exec(sql) ?? [];
  if (verb !== undefined && table !== undefined) return `${verb.toLowerCase().replace(/ .*/, '')} ${table}`;
  const [, source] = READS.exec(sql) ?? CALLS.exec(sql) ?? [];
  return source === undefined ? (/^\s*([a-z]+)/i.exec(sql)?.[1] ?? 'statement') : `select ${source}`;
};

/** Neither the `update` of `for update`, nor that of `on conflict do update`. */
const WRITES = /(?<!\b(?:for|do)\s)\b(insert\s+into|update|delete\s+from)\s+([a-z_]\w*)/i;
const READS = /\bfrom\s+([a-z_]\w*)/i;
const CALLS = /^\s*select\s+([a-z_]\w*)\(/i;

/** Runner of statements: a transaction, or a connection outside of one. */
export interface StatementRunner {
  /** Runs one statement. */
  raw<Result = { readonly rows: unknown[] }>(sql: string, bindings?: Bindings): Promise<Result>;
}

/**
 * One transaction of one workspace; it commits when the work that received it succeeds. Statements run one after the other, in the order of
 * the calls. Those that do not depend on earlier answers are sent at once ({@link together}): if the database is pipelined, they go in one
 * message.
 */
export interface Transaction extends StatementRunner {
  /**
   * Runs a statement after which the transaction commits. On a pipelined database both go in one message, and later statements are refused. So
   * work may fail after it only if the statement wrote nothing; and if its answer is lost, it may be committed.
   */
  readonly commitWith: StatementRunner['raw'];
  /** Runs a `copy ... from stdin` with lines of its text format. Without an answer in 30 seconds it fails, and the connection is discarded. */
  copyIn(sql: string, lines: Iterable<string>): Promise<void>;
  /** Runs work whose failure undoes only that work, and is rethrown. */
  savepoint<T>(work: (savepoint: Transaction) => Promise<T>): Promise<T>;
}

/** Runs one statement and answers its rows, whose shape the caller states. */
export const query = async <Row>(
  runner: StatementRunner,
  sql: string,
  bindings: Bindings = {},
): Promise<readonly Row[]> => (await runner.raw<{ rows: Row[] }>(sql, bindings)).rows;
