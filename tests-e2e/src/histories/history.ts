/** Values of submitted facts. An absent fact has no value. */
export type Facts = Readonly<Record<string, number>>;

/** State of the instance shown in an answer. */
export interface Seen {
  readonly facts: Facts;
  /** Fact written by the bound rule; null: none yet. */
  readonly decided: number | null;
}

/**
 * A client's knowledge of the outcome of an operation. `seen`: it was answered with the state, and `settled` says whether the answer claims that
 * all due runs have finished. `committed`: an error said that the merge is committed. `refused`: an error said that nothing is committed.
 * `unknown`: there was no answer, or an inconclusive one.
 */
export type Outcome =
  | { readonly type: 'seen'; readonly seen: Seen; readonly settled: boolean }
  | { readonly type: 'committed' }
  | { readonly type: 'refused' }
  | { readonly type: 'unknown' };

/** One operation of one client on one instance. */
export interface Operation {
  /** Its name in messages about a history. */
  readonly name: string;
  /** Times of one clock, ms: before it was sent, and after its answer arrived. */
  readonly begunAt: number;
  readonly endedAt: number;
  /** Facts that it submits, each value used by no other operation; undefined for a read. */
  readonly writes: Facts | undefined;
  readonly outcome: Outcome;
}

/** All operations on one instance, in any order. The instance is absent at first. */
export interface History {
  readonly operations: readonly Operation[];
  /** Final values, oldest first, of the facts whose history the service stores. */
  readonly orders: Readonly<Record<string, readonly number[]>>;
}

/** Decision of the bound rule about facts; null if it is not ready. */
export type Decide = (facts: Facts) => number | null;
