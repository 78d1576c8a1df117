import { type Migration } from './migration';

/**
 * Steps through large tables read the rows that they take, and no others. Where a table was filled lately and not analysed, or is being emptied, its
 * statistics say that little is left, and the planner would rather read and sort all of it for each step.
 */
export const stepsByIndex: Migration = {
  name: '0022-steps-by-index',
  sql: /* sql */ `
alter function remove_context_step(integer, bigint) set enable_bitmapscan = off;
alter function remove_context_step(integer, bigint) set enable_seqscan = off;
alter function sweep_expired_step(integer, integer, bigint) set enable_bitmapscan = off;
alter function sweep_expired_step(integer, integer, bigint) set enable_seqscan = off;
alter function sweep_expired_step(integer, integer, bigint) set enable_hashjoin = off;
alter function sweep_expired_step(integer, integer, bigint) set enable_mergejoin = off;
`,
};
