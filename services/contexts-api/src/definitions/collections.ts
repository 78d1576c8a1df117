import { type ContextSchema, ServiceError } from '@decision/contracts';
import {
  findCollectionGroups,
  loadCollections,
  saveCollectionGroups,
  type Transaction,
  type WorkspaceAccess,
} from '@decision/persistence';

const collectionsOf = ({ base }: ContextSchema): readonly string[] =>
  base.flatMap(({ values_collection: name }) => name ?? []);

/**
 * Writes down whose view of each collection counts that a saved context limits facts to: that of the key which named it first (V8). Throws `context_invalid`
 * where a restricted key names one of which it sees no member; to it, a hidden collection and none are the same.
 */
export const saveCollections = async (
  transaction: Transaction,
  { userGroups }: Pick<WorkspaceAccess, 'userGroups'>,
  { id, slug, schema }: { readonly id: string; readonly slug: string; readonly schema: ContextSchema },
  before: ContextSchema | undefined,
): Promise<void> => {
  const names = collectionsOf(schema);
  const known = new Set(before === undefined ? [] : collectionsOf(before));
  const added = names.filter((name) => !known.has(name));
  if (added.length === 0) return;
  if (userGroups !== undefined) await requireSeen(transaction, slug, schema, added);
  const kept = Object.entries(await findCollectionGroups(transaction, id)).filter(([name]) => known.has(name));
  const groups = [...kept, ...added.map((name) => [name, userGroups ?? null] as const)];
  await saveCollectionGroups(transaction, id, Object.fromEntries(groups));
};

const requireSeen = async (
  transaction: Transaction,
  slug: string,
  { base }: ContextSchema,
  added: readonly string[],
): Promise<void> => {
  const members = await loadCollections(transaction, added);
  const unknown = new Set(added.filter((name) => (members.get(name) ?? []).length === 0));
  const problems = base.flatMap(({ values_collection: name }, index) => {
    if (name === undefined || name === null || !unknown.has(name)) return [];
    const message = `No member of the collection of values "${name}" is visible to this key; write one first, or name another collection.`;
    return [{ code: 'collection_unknown', path: `/schema/base/${index}/values_collection`, message }];
  });
  if (problems.length === 0) return;
  throw new ServiceError(
    'context_invalid',
    `The context "${slug}" cannot be saved like this: ${problems[0]?.message ?? ''}`,
    { problems },
  );
};
