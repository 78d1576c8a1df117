import {
  type Aggregates,
  type DerivedState,
  type Executions,
  type Facts,
  type HistorySource,
  type Outcome,
  type RelatedInstances,
  type ResolvedInstance,
  type Settled,
} from '@decision/contexts';
import { type ServiceError } from '@decision/contracts';
import { type RunningOperation } from '@decision/flows';
import { type LockedInstance, type ReaderPass, type WorkspaceAccess } from '@decision/persistence';
import { type ContextInUse } from '../definitions/context-directory';

/** Identity, start and deadline of a request. */
export interface RequestOrigin {
  /** The whole workspace, on behalf of the identity. */
  readonly access: WorkspaceAccess;
  /** Id of the key, for decision logs; absent if the caller used no key. */
  readonly keyId: string | undefined;
  readonly requestId: string;
  readonly traceparent: string | undefined;
  /** Arrival of the request, epoch ms: the one clock of its decisions. */
  readonly now: number;
  /** Deadline of the caller, epoch ms. */
  readonly deadline: number;
  /** Operations whose flows made the request, the innermost last. Default: none. */
  readonly within?: readonly RunningOperation[];
  /** Aborted if the caller stops waiting before the deadline. Default: never. */
  readonly signal?: AbortSignal;
}

/** The operation whose flow made the request. It waits for the result. */
export const askingOperation = ({ within }: RequestOrigin): string | undefined => within?.at(-1)?.operationId;

/** Facts for one instance; the identity is not among them. */
export interface GivenFacts {
  readonly instanceId: string;
  readonly facts: Facts;
}

/** Work on some instances of one context. */
export interface Work {
  readonly context: ContextInUse;
  readonly origin: RequestOrigin;
  /** Facts of distinct instances. */
  readonly given: readonly GivenFacts[];
  /**
   * `submit` creates instances and extends their life; `dependent` re-evaluates existing ones; `registered` does the same, but considers only
   * registered evaluations.
   */
  readonly mode: 'submit' | 'dependent' | 'registered';
  /** Key of an asset that runs even if nothing changed, and is registered if it is not ready. */
  readonly forced?: string | undefined;
  /** Key of the flow step that writes: facts that it has merged already are not merged again. Undefined: the request comes from no step. */
  readonly stepKey?: string | undefined;
}

/** Data that is read for an instance beside its row. */
export interface Surroundings extends Relatives {
  /** Committed entries by fact, newest first, as far as formulas read them. */
  readonly history: HistorySource;
}

/** Outcome of one instance. */
export interface InstanceOutcome {
  readonly instanceId: string;
  readonly isNew: boolean;
  /** Facts and derived facts before the work. */
  readonly before: Facts;
  readonly resolved: ResolvedInstance;
  readonly settled: Settled;
  readonly outcome: Outcome;
  /** The context at the time of the write. */
  readonly context: ContextInUse;
  readonly relatives: Relatives;
  /** ISO 8601; null: never. */
  readonly expiresAt: string | null;
  /** Counts the writes of its row, including this one. */
  readonly version: number;
  /** Progress of the cascade of its last change before this write. */
  readonly readerPass: ReaderPass | undefined;
  /** Whether the forced asset was registered, since it waits for facts. */
  readonly registered: boolean;
}

export interface WorkResult {
  /** By instance id. */
  readonly outcomes: ReadonlyMap<string, InstanceOutcome>;
  /** Instances whose state is unknown or that could not be settled in time, with the reason. */
  readonly failures: ReadonlyMap<string, ServiceError>;
  /** Instances whose merge is committed; those with failures may be among them. */
  readonly committed: ReadonlySet<string>;
}

/** An instance and its planned changes, before it is written. */
export interface PlannedInstance {
  readonly locked: LockedInstance;
  readonly facts: Facts;
  /** The same object as in `locked` if the merge did not change it. */
  readonly executions: Executions;
  readonly surroundings: Surroundings;
  /** Keys of the only assets that are considered; undefined: all. */
  readonly only: ReadonlySet<string> | undefined;
  readonly hasRegistered: boolean;
  /** The outcome if nothing is due; undefined: some asset is. */
  readonly settled: Settled | undefined;
  /** Its state by these facts; the runs of due assets change it. */
  readonly computed: DerivedState;
  readonly registers: boolean;
}

/** Data of the related instances of one instance. */
export interface Relatives {
  readonly related: RelatedInstances;
  readonly aggregates: Aggregates;
}

export const NO_RELATIVES: Relatives = Object.freeze({ related: {}, aggregates: {} });

/** Values by a key of theirs, in their order. */
export const groupBy = <T>(values: readonly T[], keyOf: (value: T) => string): ReadonlyMap<string, readonly T[]> => {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
};
