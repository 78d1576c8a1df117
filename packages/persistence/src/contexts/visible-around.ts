import { query, type Transaction } from '../connection/query';

/** What an access sees around a context that it sees. */
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

/** What is visible around the context of a slug; undefined where that is not. */
export const findVisibleAround = async (transaction: Transaction, slug: string): Promise<VisibleAround | undefined> =>
  (await query<VisibleAround>(transaction, FIND, { slug }))[0];
