import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import { findOpenReleases } from '../releases/find-release';
import { type ReleaseRecord } from '../releases/release-record';
import { findRule } from './find-rule';
import { lockRule } from './lock-rule';

export type DeleteRuleOutcome =
  | { readonly status: 'deleted'; readonly slug: string; readonly name: string; readonly versionIds: readonly string[] }
  /** These releases of the rule wait or are live. */
  | { readonly status: 'released'; readonly slug: string; readonly releases: readonly ReleaseRecord[] }
  | { readonly status: 'not_found' };

const VERSIONS = /* sql */ `select id from rule_versions where rule_id = cast(:id as uuid) order by number`;
const DELETE = /* sql */ `delete from rules where id = cast(:id as uuid)`;

/**
 * Deletes a rule of which no release waits or is live, with all its versions and past releases, and answers what is gone. Only its id is
 * remembered, with the last number it gave.
 */
export const deleteRule = async (transaction: Transaction, id: string): Promise<DeleteRuleOutcome> => {
  const locked = await lockRule(transaction, { id });
  if (locked === undefined) return { status: 'not_found' };
  const { slug, name } = locked;
  const releases = await findOpenReleases(transaction, id);
  if (releases.length > 0) return { status: 'released', slug, releases };
  const versions = await query<{ id: string }>(transaction, VERSIONS, { id });
  const before = await findRule(transaction, { id });
  await query(transaction, DELETE, { id });
  await recordChange(transaction, {
    kind: 'rule',
    action: 'delete',
    id,
    name: slug,
    userGroups: before?.userGroups ?? [],
    before,
  });
  return { status: 'deleted', slug, name, versionIds: versions.map((version) => version.id) };
};
