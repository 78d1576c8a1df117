/** Values of submitted facts. A fact that is not there has no value. */
export type Facts = Readonly<Record<string, number>>;

/** State of the instance that an answer showed. */
export interface Seen {
  readonly facts: Facts;
  /** Fact that the bound rule had written; null: none yet. */
  readonly decided: number | null;
}

/**
 * A client's knowledge of an operation afterwards. `seen`: it was answered with the state, and `settled` says whether the answer claims that all that
 * was due has run. `committed`: an error said that the merge is committed. `refused`: an error said that nothing was. `unknown`: there was no answer,
 * or one that does not tell.
 */
export type Outcome =
  | { readonly type: 'seen'; readonly seen: Seen; readonly settled: boolean }
  | { readonly type: 'committed' }
  | { readonly type: 'refused' }
  | { readonly type: 'unknown' };

/** One operation of one client on one instance. */
export interface Operation {
  /** Names it in what is said about a history. */
  readonly name: string;
  /** Times of one clock, ms: before it was sent, and after its answer was there. */
  readonly begunAt: number;
  readonly endedAt: number;
  /** Facts that it submits, each value used by no other operation; undefined: it reads. */
  readonly writes: Facts | undefined;
  readonly outcome: Outcome;
}

/** All that happened to one instance, in any order. The instance is absent at first. */
export interface History {
  readonly operations: readonly Operation[];
  /** For facts of which the service keeps a history: their values, oldest first, at the end. */
  readonly orders: Readonly<Record<string, readonly number[]>>;
}

/** Decision of the bound rule about facts; null if it is not ready. */
export type Decide = (facts: Facts) => number | null;
