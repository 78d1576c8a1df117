import { type DecisionAnswers } from '@decision/decision-logs';
import { type recordChange, type WorkspaceAccess } from '@decision/persistence';

/** The audit entry of a question. */
type AskedChange = Extract<Parameters<typeof recordChange>[1], { readonly kind: string }>;

/** The store that answers questions about decisions. */
export interface DecisionStore {
  /**
   * Asks with the permissions of an access. The answer is returned only once `note` is in the audit. Throws `deadline_exceeded`, with a
   * faster alternative, if the question takes too long.
   */
  ask<T>(
    access: WorkspaceAccess,
    question: (answers: DecisionAnswers, note: (change: AskedChange) => Promise<void>) => Promise<T>,
  ): Promise<T>;
  /** Moment before which all decisions are found, ISO 8601; null: unknown. Undefined if decisions are found within seconds. */
  readonly freshUntil: () => string | null | undefined;
}
