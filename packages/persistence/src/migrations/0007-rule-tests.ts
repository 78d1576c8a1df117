import { type Migration } from './migration';

/**
 * Last results of the tests of a rule. The tests themselves are part of the draft, so that an export carries them; their results are not, so that
 * running them changes no draft.
 */
export const ruleTests: Migration = {
  name: '0007-rule-tests',
  sql: /* sql */ `
create table rule_test_results (
  workspace_id uuid not null default app_workspace_id(),
  rule_id uuid not null,
  test_id text not null,
  success boolean not null,
  error boolean not null,
  state json not null,
  executed_at timestamptz(3) not null,
  primary key (rule_id, test_id),
  foreign key (workspace_id, rule_id) references rules (workspace_id, id) on delete cascade
);
alter table rule_test_results enable row level security, force row level security;
create policy in_workspace on rule_test_results using (
  workspace_id = app_workspace_id() and exists (select from rules where rules.id = rule_test_results.rule_id)
);
grant select, insert, delete, update (success, error, state, executed_at) on rule_test_results to decision_runtime;
`,
};
