import { type Migration } from './migration';

/** The owner of the database may erase decisions (docs/decision-archive.md, "Erasing decisions"); whoever runs the services still may not. */
export const decisionLogErasure: Migration = {
  name: '0032-decision-log-erasure',
  sql: /* sql */ `
create policy of_owner on decision_log to current_user using (true);
`,
};
