import { type Migration } from './migration';

/** Finds the values of a content by an index, so that a submitted fact is compared with few members of a collection (docs/adr/0079-members-are-looked-up.md). */
export const valueHashes: Migration = {
  name: '0038-value-hashes',
  sql: /* sql */ `
-- Of the text as it was written: numbers and texts have one form each, and a text may hold U+0000, which no text of the database can.
alter table workspace_values add column content_hash bigint generated always as (
  case when type in ('string', 'number', 'boolean') then hashtextextended(cast(content as text), 0) end
) stored;
create index workspace_values_by_content on workspace_values (workspace_id, content_hash) where content_hash is not null;
`,
};
