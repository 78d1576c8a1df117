import { query, type Transaction } from '../../connection/query';

/** The part of a context's surroundings that an access sees. */
export interface VisibleAround {
  /** Slugs of all contexts. */
  readonly contexts: readonly string[];
  /** Ids of all relationships. */
  readonly relationships: readonly string[];
  /** Slugs of the rules that are bound to the context. */
  readonly rules: readonly string[];
}

const FIND = /* sql */ `
  select array(select slug from contexts) as contexts,
    array(select cast(id as text) from context_relationships) as relationships,
    array(select slug from rules where context_slug = :slug) as rules
  where exists (select from contexts where slug = :slug)`;

/** The visible surroundings of the context of a slug; undefined if the context itself is not visible. */
export const findVisibleAround = async (transaction: Transaction, slug: string): Promise<VisibleAround | undefined> =>
  (await query<VisibleAround>(transaction, FIND, { slug }))[0];
