import { type Migration } from './migration';

/** Who created a context, so that a creation that is sent again is recognised. Of contexts that are there already nobody knows. */
export const contextCreators: Migration = {
  name: '0017-context-creators',
  sql: /* sql */ `
alter table contexts add column created_by text;
alter table contexts alter column created_by set default app_actor();
create index contexts_by_name on contexts (workspace_id, name);
`,
};
