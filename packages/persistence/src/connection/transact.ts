import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ServiceError } from '@decision/contracts';
import { type SpanOptions, traced } from '@decision/tracing';
import { type Client, DatabaseError } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { type Bindings, bindNames, type StatementRunner, summarise, type Transaction } from './query';
import { beginAs, type WorkspaceAccess } from './access';
import { type Pool } from './pool';

/** Statements on a connection. */
export const runnerOn = (connection: Client): StatementRunner => ({
  raw: (sql, bindings = {}) =>
    traced(
      () => statementSpan(sql),
      () => run(connection, sql, bindings),
    ),
});

const run = async (connection: Client, sql: string, bindings: Bindings): Promise<never> => {
  const { text, values, name } = bindNames(sql, bindings);
  // Without values the shorter protocol does, which takes several statements too. The shape is what the caller states.
  return (await (values.length === 0 ? connection.query(text) : connection.query({ text, values, name }))) as never;
};

/** Tells what a statement does, and none of its values. */
const statementSpan = (sql: string): SpanOptions => ({
  name: summarise(sql),
  kind: 'client',
  attributes: { 'db.system.name': 'postgresql' },
});

/**
 * Runs work in a transaction as a workspace and commits it; where the work fails, the transaction is rolled back and the failure is thrown. A
 * connection that may still be in the transaction is not used again.
 */
export const transact = async <T>(
  connection: Client,
  access: WorkspaceAccess,
  work: (transaction: Transaction) => Promise<T>,
  pool: Pick<Pool, 'discard' | 'discardIfBroken' | 'isPipelined'>,
): Promise<T> => {
  const running = new RunningTransaction(connection, pool.isPipelined);
  let begun: Promise<unknown> = Promise.resolve();
  let value: T;
  try {
    const begin = beginAs(access);
    begun = traced(
      () => statementSpan('begin'),
      () => connection.query(begin),
    );
    if (!pool.isPipelined) await begun;
    // Statements run in the order in which they are sent: the first one need not wait until the claims are known to be made.
    [value] = await Promise.all([work(running), begun]);
  } catch (failure) {
    running.hasEnded = true;
    const error = (await refusalOf(begun)) ?? failure;
    // Before the rollback, which would wait for the same silence again.
    const isGone = pool.discardIfBroken(connection, error);
    // The first error counts; an error of the rollback says less.
    if (!isGone) await connection.query('rollback').catch(() => pool.discard(connection));
    throw error;
  }
  running.hasEnded = true;
  const { command } = await traced(
    () => statementSpan('commit'),
    () => connection.query('commit'),
  );
  if (command === 'COMMIT') return value;
  throw new ServiceError('internal_error', 'A transaction whose statement had failed was rolled back at its end.');
};

/** Why the database did not begin a transaction: whatever was sent behind fails because of it. Undefined where it began, or did not answer. */
const refusalOf = (begun: Promise<unknown>): Promise<DatabaseError | undefined> =>
  begun.then(
    () => undefined,
    (error: unknown) => (error instanceof DatabaseError ? error : undefined),
  );

const tooLate = (): ServiceError =>
  new ServiceError('internal_error', 'A statement came after the end of its transaction.');

/** How long a copy may take, ms. */
const COPY_DEADLINE_MS = 30_000;

const copyInto = async (connection: Client, sql: string, lines: Iterable<string>): Promise<void> => {
  const signal = AbortSignal.timeout(COPY_DEADLINE_MS);
  try {
    await pipeline(Readable.from(lines), connection.query(copyFrom(sql)), { signal });
  } catch (error) {
    // As the driver says it of statements.
    throw signal.aborted ? new Error('Query read timeout', { cause: error }) : error;
  }
};

class RunningTransaction implements Transaction {
  hasEnded = false;
  private savepoints = 0;
  private readonly runner: StatementRunner;
  /** Settles with the last statement so far. Never rejects. */
  private last: Promise<unknown> | undefined;

  constructor(
    private readonly connection: Client,
    private readonly isPipelined: boolean,
  ) {
    this.runner = runnerOn(connection);
  }

  readonly raw: StatementRunner['raw'] = <Result>(sql: string, bindings?: Bindings): Promise<Result> => {
    const run = () => this.send<Result>(sql, bindings);
    if (this.isPipelined) return run();
    const running = this.last === undefined ? run() : this.last.then(run);
    this.last = running.catch(() => undefined);
    return running;
  };

  /** Whoever comes late must not meet the next transaction of the connection. */
  private send<Result>(sql: string, bindings?: Bindings): Promise<Result> {
    return this.hasEnded ? Promise.reject(tooLate()) : this.runner.raw<Result>(sql, bindings);
  }

  readonly copyIn: Transaction['copyIn'] = (sql, lines) =>
    this.hasEnded
      ? Promise.reject(tooLate())
      : traced(
          () => statementSpan('copy'),
          () => copyInto(this.connection, sql, lines),
        );

  async savepoint<T>(work: (savepoint: Transaction) => Promise<T>): Promise<T> {
    const name = `savepoint_${(this.savepoints += 1)}`;
    await this.raw(`savepoint ${name}`);
    try {
      const value = await work(this);
      await this.raw(`release savepoint ${name}`);
      return value;
    } catch (error) {
      await this.raw(`rollback to savepoint ${name}; release savepoint ${name}`);
      throw error;
    }
  }
}
