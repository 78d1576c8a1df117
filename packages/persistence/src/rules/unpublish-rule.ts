import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';

export type UnpublishRuleOutcome =
  { readonly status: 'unpublished'; readonly slug: string } | { readonly status: 'not_found' };

const UNPUBLISH = /* sql */ `
  update rules set published_version_id = null where id = cast(:id as uuid) returning slug, user_groups`;

/** Takes a rule out of service: no selector solves it until it is published again. Its versions are kept. Idempotent. */
export const unpublishRule = async (transaction: Transaction, id: string): Promise<UnpublishRuleOutcome> => {
  const [row] = isUuid(id) ? await query<{ slug: string; user_groups: string[] }>(transaction, UNPUBLISH, { id }) : [];
  if (row === undefined) return { status: 'not_found' };
  const { slug: name, user_groups: userGroups } = row;
  await recordChange(transaction, { kind: 'rule', action: 'unpublish', id, name, userGroups });
  return { status: 'unpublished', slug: name };
};
