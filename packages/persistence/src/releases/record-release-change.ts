import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import { findRelease } from './find-release';
import { type ReleaseRecord } from './release-record';

const GROUPS = /* sql */ `select user_groups from rules where id = cast(:id as uuid)`;

/** Actions on a release. */
export type ReleaseAction =
  'create' | 'promote' | 'approve' | 'go_live' | 'supersede' | 'cancel' | 'withdraw' | 'roll_back' | 'put_back';

/** Records what a release has become since `before`, which is undefined for one that is new; it has the groups of its rule. */
export const recordReleaseChange = async (
  transaction: Transaction,
  action: ReleaseAction,
  id: string,
  before: ReleaseRecord | undefined,
): Promise<void> => {
  const after = await findRelease(transaction, id);
  if (after === undefined) return;
  const [rule] = await query<{ user_groups: string[] }>(transaction, GROUPS, { id: after.rule.id });
  const name = `${after.rule.slug} ${after.version} in ${after.environment.slug}`;
  const userGroups = rule?.user_groups ?? [];
  await recordChange(transaction, { kind: 'release', action, id, name, userGroups, before, after });
};
