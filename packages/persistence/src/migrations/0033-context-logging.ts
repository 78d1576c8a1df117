import { type Migration } from './migration';

/** What is logged of decisions that run within operations on instances of a context (docs/decision-logs.md, "What is logged"). */
export const contextLogging: Migration = {
  name: '0033-context-logging',
  sql: /* sql */ `
alter table contexts add column logging json;
grant update (logging) on contexts to decision_runtime;
`,
};
