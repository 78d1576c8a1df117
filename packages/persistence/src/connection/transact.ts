import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ServiceError } from '@decision/contracts';
import { type SpanOptions, traced } from '@decision/tracing';
import { type Client, DatabaseError } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { type Bindings, bindNames, type StatementRunner, summarise, type Transaction } from './query';
import { beginAs, type WorkspaceAccess } from './access';
import { type Pool } from './pool';
import { type Answer, sendStatement, StatementSkipped } from './statement-batch';
import { together } from './together';

/** Statements on a connection. */
export const runnerOn = (connection: Client): StatementRunner => ({
  raw: <Result>(sql: string, bindings: Bindings = {}) =>
    traced(
      () => statementSpan(sql),
      () => sendStatement(connection, bindNames(sql, bindings)) as Promise<Result>, // the caller states the shape
    ),
});

/** Describes a statement without any of its values. */
const statementSpan = (sql: string): SpanOptions => ({
  name: summarise(sql),
  kind: 'client',
  attributes: { 'db.system.name': 'postgresql' },
});

/**
 * Runs work in a transaction as a workspace and commits it; if the work fails, the transaction is rolled back and the failure is rethrown.
 * A connection that may still be in the transaction is not reused.
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
      () => together(...begin.map((statement) => sendStatement(connection, statement))),
    );
    if (!pool.isPipelined) await begun;
    // Statements run in the order in which they are sent: the first one need not wait for the answer to the claims.
    [value] = await Promise.all([work(running), begun]);
  } catch (failure) {
    running.hasEnded = true;
    const error = (await refusalOf(begun)) ?? causeOf(failure);
    // Before the rollback, which would wait for the same silent server again.
    const isGone = pool.discardIfBroken(connection, error);
    // The first error is reported; an error of the rollback is less informative.
    if (!isGone) await rollBack(connection, running.commit).catch(() => pool.discard(connection));
    throw error;
  }
  running.hasEnded = true;
  if (await isCommitted(connection, running.commit)) return value;
  throw new ServiceError('internal_error', 'A transaction whose statement had failed was rolled back at its end.');
};

const endWith = (connection: Client, command: 'commit' | 'rollback'): Promise<Answer> =>
  traced(
    () => statementSpan(command),
    () => sendStatement(connection, bindNames(command, {})),
  );

/** Whether a transaction committed, by the commit that was sent with its last statement if there is one. */
const isCommitted = async (connection: Client, commit = endWith(connection, 'commit')): Promise<boolean> => {
  try {
    return (await commit).command === 'COMMIT';
  } catch (error) {
    if (!(error instanceof StatementSkipped)) throw error;
    await endWith(connection, 'rollback');
    return false;
  }
};

/** A commit that was sent with the last statement may have been skipped. Once it has run, it has ended the transaction, whatever it answered. */
const rollBack = async (connection: Client, commit: Promise<Answer> | undefined): Promise<void> => {
  if (commit === undefined) await endWith(connection, 'rollback');
  else await isCommitted(connection, commit);
};

/** Why a statement was not run, instead of the fact that it was not. */
const causeOf = (failure: unknown): unknown => (failure instanceof StatementSkipped ? failure.cause : failure);

/** Why the database did not start a transaction, which makes every later statement fail. Undefined if it started, or did not answer. */
const refusalOf = (begun: Promise<unknown>): Promise<DatabaseError | undefined> =>
  begun.then(
    () => undefined,
    (error: unknown) => (error instanceof DatabaseError ? error : undefined),
  );

const tooLate = (): ServiceError =>
  new ServiceError('internal_error', 'A statement was sent after the end of its transaction.');

/** Time limit of a copy, ms. */
const COPY_DEADLINE_MS = 30_000;

const copyInto = async (connection: Client, sql: string, lines: Iterable<string>): Promise<void> => {
  const signal = AbortSignal.timeout(COPY_DEADLINE_MS);
  try {
    await pipeline(Readable.from(lines), connection.query(copyFrom(sql)), { signal });
  } catch (error) {
    // The driver's message for statements.
    throw signal.aborted ? new Error('Query read timeout', { cause: error }) : error;
  }
};

class RunningTransaction implements Transaction {
  hasEnded = false;
  /** The answer to the commit, if that was sent with the last statement. */
  commit: Promise<Answer> | undefined;
  private savepoints = 0;
  private readonly runner: StatementRunner;
  /** Settles with the latest statement. Never rejects. */
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

  readonly commitWith: Transaction['commitWith'] = <Result>(sql: string, bindings?: Bindings): Promise<Result> => {
    const answer = this.raw<Result>(sql, bindings);
    if (!this.isPipelined || this.hasEnded) return answer;
    this.hasEnded = true;
    this.commit = endWith(this.connection, 'commit');
    // If work fails, it is awaited after the failure.
    this.commit.catch(() => undefined);
    return answer;
  };

  /** A late statement must not run in the next transaction of the connection. */
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
      await together(this.raw(`rollback to savepoint ${name}`), this.raw(`release savepoint ${name}`));
      throw causeOf(error);
    }
  }
}
