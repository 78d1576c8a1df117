import { ServiceError } from '@decision/contracts';
import { type DecisionAnswers } from '@decision/decision-logs';
import {
  countDecisions,
  type Database,
  findDecision,
  findMissingMessages,
  ranTooLong,
  readDecisionPage,
  readDecisions,
  recordChange,
  summariseDecisions,
  type Transaction,
} from '@decision/persistence';
import { type DecisionStore } from './decision-store';

/** The log table; each question is one transaction. */
export const openTableStore = (database: Pick<Database, 'inWorkspace'>): DecisionStore => ({
  ask: async (access, question) => {
    try {
      return await database.inWorkspace(access, (transaction) =>
        question(answersOf(transaction), (change) => recordChange(transaction, change)),
      );
    } catch (error) {
      if (!ranTooLong(error)) throw error;
      throw new ServiceError(
        'deadline_exceeded',
        'The database looked through decisions for as long as one question may take. Ask for less: give "start" and "end" of fewer days, or "rules", "flows" or "trace", which have indexes; words, "count" and sorts other than by time read every decision of that time.',
        {},
        { cause: error },
      );
    }
  },
  freshUntil: () => undefined,
});

const answersOf = (transaction: Transaction): DecisionAnswers => ({
  count: (filters) => countDecisions(transaction, filters),
  read: (found, filters, options) => readDecisions(transaction, found, filters, options),
  readPage: (filters, order, options) => readDecisionPage(transaction, filters, order, options),
  findOne: (id) => findDecision(transaction, id),
  summarise: (filters, split) => summariseDecisions(transaction, filters, split),
  findMissing: (options) => findMissingMessages(transaction, options),
});
