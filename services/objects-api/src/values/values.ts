import {
  type DeletedValue,
  deleteValue as deleteValueOperation,
  type ListedValue,
  listValues as listValuesOperation,
  type ListValuesQuery,
  MAX_ANSWERED_VALUES,
  syncValues,
  updateValue as updateValueOperation,
  type UpdateValueRequest,
  type ValueRecord,
  writeValues as writeValuesOperation,
  type WriteValuesAnswer,
  type WriteValuesRequest,
} from '@decision/contracts';
import { accessOf } from '@decision/infrastructure';
import {
  deleteValue as deleteStoredValue,
  findValues,
  findValueUses,
  listValues as listStoredValues,
  resolveReferences,
  type AssetUse,
  type SavedValue,
  saveValues,
  type SaveValuesOptions,
  type Transaction,
  updateValue as updateStoredValue,
  type WorkspaceAccess,
} from '@decision/persistence';
import { bindOperation, type BoundOperation, type PageQuery, readPageQuery } from '@decision/service-kit';
import { type AnnouncingContext, changeAndAnnounce } from '../announcements';
import { bindReferences, holdsReferences, referredTo } from './bind-references';
import { readValue, readValues, requireName, requireNone, type ValueContent } from './read-values';
import { requireSameShape } from './same-shape';
import {
  inUse,
  managed,
  nameTaken,
  referredToByHidden,
  staleValues,
  toListedValue,
  toUsages,
  valueNotFound,
} from './value-answers';
import { syncCollection } from './sync-collection';

/** The calls under /api/v1/values. */
export const valueRoutes = (context: AnnouncingContext): readonly BoundOperation[] => [
  bindOperation(listValuesOperation, async ({ identity, query }) => {
    const { limit, cursor, ...filters } = query;
    const paged = limit !== undefined || cursor !== undefined;
    const page = paged ? readPageQuery({ limit, cursor }) : undefined;
    const listed = await listValues(context, accessOf(identity), filters, page);
    return paged ? listed : listed.data;
  }),
  bindOperation(writeValuesOperation, ({ identity, body }) => writeValues(context, accessOf(identity), body)),
  bindOperation(syncValues, ({ identity, body }) => syncCollection(context, accessOf(identity), body)),
  bindOperation(updateValueOperation, ({ identity, params, body }) =>
    updateValue(context, accessOf(identity), params['id'] ?? '', body),
  ),
  bindOperation(deleteValueOperation, ({ identity, query }) => deleteValue(context, accessOf(identity), query.id)),
];

interface ListedValues {
  readonly data: ListedValue[];
  readonly next_cursor: string | null;
}

export const listValues = (
  { database }: AnnouncingContext,
  access: WorkspaceAccess,
  query: Omit<ListValuesQuery, 'limit' | 'cursor'>,
  page: PageQuery | undefined,
): Promise<ListedValues> =>
  database.inWorkspace(access, async (transaction) => {
    const { type, user_group: userGroup, include = '', resolve } = query;
    const [name, prefix] = [query.name?.normalize('NFC'), query.prefix?.normalize('NFC')];
    const included = new Set(include.split(','));
    const filters = { name, prefix, type, userGroup, withArchived: included.has('archived') };
    const { values: stored, nextCursor } = await listStoredValues(transaction, filters, page);
    const values = resolve === 'true' ? await resolveReferences(transaction, stored, 'caller') : stored;
    const data = values.map(toListedValue);
    if (!included.has('usage')) return { data, next_cursor: nextCursor };
    const uses = groupByValue(await findValueUses(transaction, values.map(({ id }) => id))); // prettier-ignore
    return {
      data: data.map((value) => ({ ...value, usages: toUsages(uses.get(value.id) ?? []) })),
      next_cursor: nextCursor,
    };
  });

/** Creates or changes values by name, all or none. Throws `value_invalid`, `value_name_taken` or `value_in_use`. */
export const writeValues = async (
  context: AnnouncingContext,
  access: WorkspaceAccess,
  request: WriteValuesRequest,
): Promise<WriteValuesAnswer> => {
  const values = readValues(request);
  const outcome = await changeAndAnnounce(context, access, async (transaction, announceLater) => {
    announceLater(staleValues(access));
    const { ids, names } = referredTo(values.map(({ content }) => content));
    // All at once, in order: one value may refer to another that is written with it.
    const locked = await findValues(
      transaction,
      { ids, names: [...names, ...values.map(({ name }) => name)] },
      'change',
    );
    const writing = new Set(values.map(({ name }) => name));
    const existing = locked.filter(({ name }) => writing.has(name));
    const wanted = new Map(values.map(({ name, type, content }) => [name, { type, value: content }]));
    requireUnmanaged(existing);
    await requireSameShape(transaction, existing, ({ name }) => wanted.get(name));
    const groups = { newUserGroups: request.user_groups ?? access.userGroups ?? [], userGroups: request.user_groups };
    const plain = await save(transaction, values.filter((value) => !holdsReferences(value)), groups); // prettier-ignore
    const lists = values.filter(holdsReferences);
    if (lists.length === 0) return plain;
    const { bound, problems } = await bindReferences(transaction, lists);
    requireNone(problems);
    const referring = await save(transaction, bound, groups);
    return {
      created: plain.created + referring.created,
      updated: plain.updated + referring.updated,
      values: [...plain.values, ...referring.values],
    };
  });
  const { created, updated, values: written } = outcome;
  if (written.length > MAX_ANSWERED_VALUES) return { created, updated, processed: written.length };
  return written.map(toListedValue);
};

/** Renames, changes or archives one value. Throws `value_not_found`, `value_invalid`, `value_name_taken` or `value_in_use`. */
export const updateValue = async (
  context: AnnouncingContext,
  access: WorkspaceAccess,
  id: string,
  { name, value, user_groups: userGroups, metadata, archived }: UpdateValueRequest,
): Promise<ListedValue> => {
  const composed = name?.normalize('NFC');
  if (composed !== undefined) requireName(composed);
  const content = value === undefined ? undefined : readValue(composed ?? id, value);
  return changeAndAnnounce(context, access, async (transaction, announceLater) => {
    const { ids, names } = referredTo([content?.value]);
    const locked = await findValues(transaction, { ids: [id, ...ids], names }, 'change');
    const existing = locked.filter((candidate) => candidate.id === id);
    requireUnmanaged(existing);
    await requireSameShape(transaction, existing, () => content);
    const bound = content && (await bindOne(transaction, existing, content));
    const outcome = await updateStoredValue(transaction, id, {
      name: composed,
      content: bound,
      userGroups,
      metadata,
      archived,
    });
    switch (outcome.status) {
      case 'not_found':
        throw valueNotFound(id);
      case 'name_taken':
        throw nameTaken(`the name "${name ?? ''}"`, { name });
      case 'managed':
        throw managed(outcome);
      case 'updated':
        announceLater(staleValues(access));
        return toListedValue(outcome.value);
    }
  });
};

/** The content of that record with its references bound. */
const bindOne = async (transaction: Transaction, existing: readonly ValueRecord[], { type, value }: ValueContent) => {
  const [record] = existing;
  if (record === undefined || !holdsReferences({ content: value })) return { type, value, refersTo: [] };
  const { bound, problems } = await bindReferences(transaction, [{ name: record.name, type, content: value }]);
  requireNone(problems);
  const [list] = bound;
  return { type, value: list?.content, refersTo: list?.refersTo ?? [] };
};

/** Deletes a value that no rule or flow uses; lists that refer to it get a copy of its content. Throws `value_not_found` or `value_in_use`. */
export const deleteValue = (context: AnnouncingContext, access: WorkspaceAccess, id: string): Promise<DeletedValue> =>
  changeAndAnnounce(context, access, async (transaction, announceLater) => {
    const outcome = await deleteStoredValue(transaction, id);
    switch (outcome.status) {
      case 'not_found':
        throw valueNotFound(id);
      case 'managed':
        throw managed(outcome);
      case 'in_use':
        throw inUse(`The value "${outcome.name}" cannot be deleted`, outcome.uses);
      case 'referred_to':
        throw referredToByHidden(outcome.name, outcome.hiddenLists);
      case 'deleted':
        announceLater(staleValues(access));
        return { message: `Value "${outcome.name}" was deleted.`, updated_list_values: [...outcome.updatedLists] };
    }
  });

interface SavedValues {
  readonly created: number;
  readonly updated: number;
  readonly values: readonly ValueRecord[];
}

const save = async (
  transaction: Transaction,
  values: readonly SavedValue[],
  groups: SaveValuesOptions,
): Promise<SavedValues> => {
  const saved = await saveValues(transaction, values, groups);
  if (saved.status === 'name_taken') throw nameTaken('one of the names', {});
  if (saved.status === 'managed') throw managed(saved);
  return saved;
};

/** Runs before all other checks: a rule's use of a value must not look like a reason to change the rule. */
const requireUnmanaged = (existing: readonly ValueRecord[]): void => {
  for (const { name, managedBy } of existing) {
    if (managedBy !== null) throw managed({ name, object: managedBy });
  }
};

const groupByValue = (uses: readonly AssetUse[]): ReadonlyMap<string, readonly AssetUse[]> => {
  const byValue = new Map<string, AssetUse[]>();
  for (const use of uses) byValue.set(use.valueId, [...(byValue.get(use.valueId) ?? []), use]);
  return byValue;
};
