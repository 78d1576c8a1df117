import { query, type Transaction } from '../connection/query';
import { referencesIn, resolveContent } from './value-reference';

/** The view of the values that counts: the caller's, or that of the rules of the workspace, which see all. */
type ReferenceView = 'caller' | 'rules';

const SOURCES: Readonly<Record<ReferenceView, string>> = {
  caller: 'workspace_values where id = any (cast(:ids as uuid[]))',
  rules: 'find_bound_values(cast(:ids as uuid[]))',
};

/** The values with what their lists refer to in the place of references. What the view does not show stays a reference. */
export const resolveReferences = async <T extends { readonly content: unknown }>(
  transaction: Transaction,
  values: readonly T[],
  view: ReferenceView,
): Promise<readonly T[]> => {
  const ids = [...new Set(values.flatMap(({ content }) => referencesIn(content)))];
  if (ids.length === 0) return values;
  const sql = `select id, content from ${SOURCES[view]}`;
  const found = await query<{ id: string; content: unknown }>(transaction, sql, { ids });
  const contentOf = new Map(found.map(({ id, content }) => [id, content]));
  return values.map((value) => ({ ...value, content: resolveContent(value.content, contentOf) }));
};
