import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';

export type UnpublishRuleOutcome =
  { readonly status: 'unpublished'; readonly slug: string } | { readonly status: 'not_found' };

const UNPUBLISH = /* sql */ `
  update rules set published_version_id = null where id = cast(:id as uuid) returning slug`;

/** Takes a rule out of service: no selector solves it until it is published again. Its versions are kept. Idempotent. */
export const unpublishRule = async (transaction: Transaction, id: string): Promise<UnpublishRuleOutcome> => {
  const [row] = isUuid(id) ? await query<{ slug: string }>(transaction, UNPUBLISH, { id }) : [];
  return row ? { status: 'unpublished', slug: row.slug } : { status: 'not_found' };
};
