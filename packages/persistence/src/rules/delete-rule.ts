import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { findRule } from './find-rule';

export type DeleteRuleOutcome =
  | { readonly status: 'deleted'; readonly slug: string; readonly name: string; readonly versionIds: readonly string[] }
  | { readonly status: 'not_found' };

const LOCK = /* sql */ `select slug, name from rules where id = cast(:id as uuid) for update`;
const VERSIONS = /* sql */ `select id from rule_versions where rule_id = cast(:id as uuid) order by number`;
const DELETE = /* sql */ `delete from rules where id = cast(:id as uuid)`;

/** Deletes a rule with all its versions and answers what is gone. Only its id is remembered, with the last number it gave. */
export const deleteRule = async (transaction: Transaction, id: string): Promise<DeleteRuleOutcome> => {
  if (!isUuid(id)) return { status: 'not_found' };
  const [rule] = await query<{ slug: string; name: string }>(transaction, LOCK, { id });
  if (rule === undefined) return { status: 'not_found' };
  const versions = await query<{ id: string }>(transaction, VERSIONS, { id });
  const before = await findRule(transaction, { id });
  await query(transaction, DELETE, { id });
  const { slug: name } = rule;
  await recordChange(transaction, {
    kind: 'rule',
    action: 'delete',
    id,
    name,
    userGroups: before?.userGroups ?? [],
    before,
  });
  return { status: 'deleted', ...rule, versionIds: versions.map((version) => version.id) };
};
