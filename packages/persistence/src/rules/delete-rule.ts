import { recordChange } from '../audit/record-change';
import { asWorkspace } from '../connection/as-workspace';
import { query, type Transaction } from '../connection/query';
import { findOpenReleases } from '../releases/find-release';
import { type ReleaseRecord } from '../releases/release-record';
import { findRule } from './find-rule';
import { lockRule } from './lock-rule';

/** A version that is gone with its rule. */
interface DeletedVersion {
  readonly id: string;
  readonly number: number;
}

export type DeleteRuleOutcome =
  | {
      readonly status: 'deleted';
      readonly slug: string;
      readonly name: string;
      /** In the order of their numbers. */
      readonly versions: readonly DeletedVersion[];
    }
  /** These releases of the rule wait or are live. */
  | { readonly status: 'released'; readonly slug: string; readonly releases: readonly ReleaseRecord[] }
  /** It is published, and bound to the context of this slug; undefined where the access does not see that. */
  | { readonly status: 'bound'; readonly slug: string; readonly context: string | undefined }
  | { readonly status: 'not_found' };

const VERSIONS = /* sql */ `select id, number from rule_versions where rule_id = cast(:id as uuid) order by number`;
const BINDING = /* sql */ `
  select contexts.slug from rules join contexts on contexts.workspace_id = rules.workspace_id and contexts.slug = rules.context_slug
  where rules.id = cast(:id as uuid) and rules.published_version_id is not null`;
const DELETE = /* sql */ `delete from rules where id = cast(:id as uuid)`;

/**
 * Deletes a rule of which no release waits or is live, and that no context runs, with all its versions and past releases, and answers what is gone. Only its id is
 * remembered, with the last number it gave.
 */
export const deleteRule = async (transaction: Transaction, id: string): Promise<DeleteRuleOutcome> => {
  const locked = await lockRule(transaction, { id });
  if (locked === undefined) return { status: 'not_found' };
  const { slug, name } = locked;
  const releases = await findOpenReleases(transaction, id);
  if (releases.length > 0) return { status: 'released', slug, releases };
  const [binding] = await query<{ slug: string }>(transaction, BINDING, { id });
  if (binding !== undefined) return { status: 'bound', slug, context: binding.slug };
  const [hidden] = await asWorkspace(transaction, () => query(transaction, BINDING, { id }));
  if (hidden !== undefined) return { status: 'bound', slug, context: undefined };
  const versions = await query<DeletedVersion>(transaction, VERSIONS, { id });
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
  return { status: 'deleted', slug, name, versions };
};
