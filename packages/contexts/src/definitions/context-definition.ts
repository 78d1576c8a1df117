import { type ContextSchema, type RelationType, type SchemaMismatchPolicy } from '@decision/contracts';

/** A context as it is stored: what its author wrote, defaults filled in. */
export interface ContextDefinition {
  readonly id: string;
  readonly slug: string;
  readonly schema: ContextSchema;
  readonly identityFact: string;
  /** False: submissions merge facts and start nothing new. */
  readonly autoExecuteDecisions: boolean;
  /** Seconds; null: instances never expire. */
  readonly ttlSeconds: number | null;
  /** Entries of history kept for each tracked fact, 1 to 10,000. */
  readonly historyLimit: number;
  readonly onSchemaMismatch: SchemaMismatchPolicy;
}

/** A relationship of one context to another of the same workspace. */
export interface Relationship {
  readonly id: string;
  /** How formulas of the first context call it: `$name`. */
  readonly name: string;
  readonly type: RelationType;
  readonly fromContextId: string;
  readonly toContextId: string;
  /** For `belongs_to` a fact of the first context, else of the other one. */
  readonly foreignKeyFact: string;
}

/** All contexts of a workspace with their relationships: what one definition is checked against. */
export interface ContextWorld {
  /** By id. */
  readonly contexts: ReadonlyMap<string, ContextDefinition>;
  readonly relationships: readonly Relationship[];
}

/** The context whose instances hold the foreign key. */
export const holderOf = ({ type, fromContextId, toContextId }: Relationship): string =>
  type === 'belongs_to' ? fromContextId : toContextId;
