import { type Migration } from './migration';

/** Creator of a context, so that a repeated creation is recognised. It is unknown for contexts that exist already. */
export const contextCreators: Migration = {
  name: '0017-context-creators',
  sql: /* sql */ `
alter table contexts add column created_by text;
alter table contexts alter column created_by set default app_actor();
create index contexts_by_name on contexts (workspace_id, name);
`,
};
