import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import { findOpenReleases } from '../releases/find-release';
import { type ReleaseRecord } from '../releases/release-record';
import { lockRule } from './lock-rule';

type UnpublishRuleOutcome =
  | { readonly status: 'unpublished'; readonly slug: string }
  /** These releases of the rule wait or are live. */
  | { readonly status: 'released'; readonly slug: string; readonly releases: readonly ReleaseRecord[] }
  | { readonly status: 'not_found' };

const UNPUBLISH = /* sql */ `
  update rules set published_version_id = null where id = cast(:id as uuid) returning user_groups`;

/**
 * Takes a rule of which no release waits or is live out of service: no selector solves it until it is published again. Its versions are
 * kept. Idempotent.
 */
export const unpublishRule = async (transaction: Transaction, id: string): Promise<UnpublishRuleOutcome> => {
  const rule = await lockRule(transaction, { id });
  if (rule === undefined) return { status: 'not_found' };
  const { slug } = rule;
  const releases = await findOpenReleases(transaction, id);
  if (releases.length > 0) return { status: 'released', slug, releases };
  const [row] = await query<{ user_groups: string[] }>(transaction, UNPUBLISH, { id });
  const userGroups = row?.user_groups ?? [];
  await recordChange(transaction, { kind: 'rule', action: 'unpublish', id, name: slug, userGroups });
  return { status: 'unpublished', slug };
};
