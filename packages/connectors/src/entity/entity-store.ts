import { type RunningOperation } from '@decision/flows';

/** Facts of an instance by name, including derived ones; `$relations` holds related instances if they were asked for. */
export type EntityState = Readonly<Record<string, unknown>>;

/** A step of a flow that works on instances of a context. */
export interface EntityStep {
  readonly workspaceId: string;
  readonly contextSlug: string;
  readonly requestId: string;
  /** Id of the API key that asked, for decision logs; absent if no key did. */
  readonly keyId: string | undefined;
  /** Epoch ms after which nobody waits. */
  readonly deadline: number;
  /** Aborted when nobody waits any more. */
  readonly signal: AbortSignal;
  /** The same whenever the step runs again, so that its writes are not repeated. */
  readonly key: string;
  /** Operations that the flow is part of, the innermost last. */
  readonly within: readonly RunningOperation[];
}

/** The outcome of a record: the state of its instance (undefined if it has been deleted since), or why it was not merged. */
export type WrittenRecord = { readonly state: EntityState | undefined } | { readonly error: string };

/** A context as seen by one step. Its methods reject with `ServiceError`. */
export interface EntityContext {
  /** Name of the identity fact. */
  readonly identityFact: string;
  /**
   * Undefined if there is no such instance. Throws `facts_invalid` for an invalid identity, and `invalid_request` for an unknown
   * relationship.
   */
  read(identity: unknown, relations: readonly string[]): Promise<EntityState | undefined>;
  /**
   * Merges records, as a batch does, and runs what is due; answers the outcome of each, in order. Throws if the state of an instance is
   * unknown.
   */
  submit(records: readonly unknown[]): Promise<readonly WrittenRecord[]>;
  /** Deletes an instance, if it exists. Throws `facts_invalid`. */
  remove(identity: unknown): Promise<void>;
}

/** Contexts and their instances, for nodes of flows. */
export interface EntityStore {
  /** Throws `context_not_found`. */
  open(step: EntityStep): Promise<EntityContext>;
}
