import { type Migration } from './migration';

/**
 * An entry that names two things, such as a context and the one that it is related to, is read by who sees both (docs/specs/visibility.md). `other_groups` are those of the
 * second; null where there is none. Of what was related before, nobody knows them: only an access without restriction reads such entries.
 */
export const auditOfTwo: Migration = {
  name: '0020-audit-of-two',
  sql: /* sql */ `
alter table audit_entries add column other_groups text[];
alter policy read_own on audit_entries using (
  workspace_id = app_workspace_id() and app_may_see(user_groups)
  and (other_groups is null and not (kind = 'context' and action in ('relate', 'unrelate')) or app_may_see(coalesce(other_groups, '{}')))
);
`,
};
