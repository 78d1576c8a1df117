import { type DecisionAnswers } from '@decision/decision-logs';
import { type recordChange, type WorkspaceAccess } from '@decision/persistence';

/** What is noted in the audit of a question. */
type AskedChange = Extract<Parameters<typeof recordChange>[1], { readonly kind: string }>;

/** Where questions about decisions are asked. */
export interface DecisionStore {
  /**
   * Asks as an access may. What the question answers is given out only once `note` is in the audit. Throws `deadline_exceeded`, with what would
   * be faster, where the question takes too long.
   */
  ask<T>(
    access: WorkspaceAccess,
    question: (answers: DecisionAnswers, note: (change: AskedChange) => Promise<void>) => Promise<T>,
  ): Promise<T>;
  /** Moment before which everything that was decided is found, ISO 8601; null: not known. Undefined where decisions are found within seconds. */
  readonly freshUntil: () => string | null | undefined;
}
