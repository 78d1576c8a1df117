import {
  type DeletedValue,
  type FunctionContent,
  type ListedValue,
  type ListValuesQuery,
  MAX_ANSWERED_VALUES,
  ServiceError,
  type UpdateValueRequest,
  type WriteValuesAnswer,
  type WriteValuesRequest,
} from '@decision/contracts';
import {
  deleteValue as deleteStoredValue,
  findValues,
  findValueUses,
  listValues as listStoredValues,
  type ManagedRefusal,
  type RuleUse,
  saveValues,
  type Transaction,
  updateValue as updateStoredValue,
  type ValueRecord,
  type WorkspaceAccess,
} from '@decision/persistence';
import { type AnnouncingContext, changeAndAnnounce } from '../announcing';
import { type PageQuery } from '../routes/page-query';
import { readValue, readValues, requireName, type ValueContent } from './read-values';
import { staleValues } from './stale-values';
import { toListedValue, toUsages } from './value-answers';

/** What the calls on values need from outside. */
export type ValueContext = AnnouncingContext;

export interface ListedValues {
  readonly data: ListedValue[];
  readonly next_cursor: string | null;
}

export const listValues = (
  { database }: ValueContext,
  access: WorkspaceAccess,
  query: Omit<ListValuesQuery, 'limit' | 'cursor'>,
  page: PageQuery | undefined,
): Promise<ListedValues> =>
  database.inWorkspace(access, async (transaction) => {
    const { name, prefix, type, user_group: userGroup, include = '' } = query;
    const included = new Set(include.split(','));
    const filters = { name, prefix, type, userGroup, withArchived: included.has('archived') };
    const { values, nextCursor } = await listStoredValues(transaction, filters, page);
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
  context: ValueContext,
  access: WorkspaceAccess,
  request: WriteValuesRequest,
): Promise<WriteValuesAnswer> => {
  const values = readValues(request);
  const outcome = await changeAndAnnounce(context, access, async (transaction, owe) => {
    const existing = await findValues(transaction, { names: values.map(({ name }) => name) }, 'change');
    const wanted = new Map(values.map(({ name, type, content }) => [name, { type, value: content }]));
    requireUnmanaged(existing);
    await requireSameShape(transaction, existing, ({ name }) => wanted.get(name));
    const saved = await saveValues(transaction, values, {
      newUserGroups: request.user_groups ?? access.userGroups ?? [],
      userGroups: request.user_groups,
    });
    if (saved.status === 'name_taken') throw nameTaken('one of the names', {});
    if (saved.status === 'managed') throw managed(saved);
    owe(staleValues(access));
    return saved;
  });
  const { created, updated, values: written } = outcome;
  if (written.length > MAX_ANSWERED_VALUES) return { created, updated, processed: written.length };
  return written.map(toListedValue);
};

/** Renames, changes or archives one value. Throws `value_not_found`, `value_invalid`, `value_name_taken` or `value_in_use`. */
export const updateValue = async (
  context: ValueContext,
  access: WorkspaceAccess,
  id: string,
  { name, value, user_groups: userGroups, metadata, archived }: UpdateValueRequest,
): Promise<ListedValue> => {
  if (name !== undefined) requireName(name);
  const content = value === undefined ? undefined : readValue(name ?? id, value);
  return changeAndAnnounce(context, access, async (transaction, owe) => {
    const existing = await findValues(transaction, { ids: [id] }, 'change');
    requireUnmanaged(existing);
    await requireSameShape(transaction, existing, () => content);
    const outcome = await updateStoredValue(transaction, id, { name, content, userGroups, metadata, archived });
    switch (outcome.status) {
      case 'not_found':
        throw valueNotFound(id);
      case 'name_taken':
        throw nameTaken(`the name "${name ?? ''}"`, { name });
      case 'managed':
        throw managed(outcome);
      case 'updated':
        owe(staleValues(access));
        return toListedValue(outcome.value);
    }
  });
};

/** Deletes a value that no rule uses. Throws `value_not_found` or `value_in_use`. */
export const deleteValue = (context: ValueContext, access: WorkspaceAccess, id: string): Promise<DeletedValue> =>
  changeAndAnnounce(context, access, async (transaction, owe) => {
    const outcome = await deleteStoredValue(transaction, id);
    switch (outcome.status) {
      case 'not_found':
        throw valueNotFound(id);
      case 'managed':
        throw managed(outcome);
      case 'in_use':
        throw inUse(`The value "${outcome.name}" cannot be deleted`, outcome.uses);
      case 'deleted':
        owe(staleValues(access));
        return { message: `Value "${outcome.name}" was deleted.`, updated_list_values: [] };
    }
  });

/** Before anything else is said of them: that a rule uses a value is no reason to change the rule. */
const requireUnmanaged = (existing: readonly ValueRecord[]): void => {
  for (const { name, managedBy } of existing) {
    if (managedBy !== null) throw managed({ name, object: managedBy });
  }
};

/** Rules that use a value were checked against its type, and calls of a function against its parameters. */
const requireSameShape = async (
  transaction: Transaction,
  existing: readonly ValueRecord[],
  wantedFor: (value: ValueRecord) => ValueContent | undefined,
): Promise<void> => {
  const changed = existing.filter((value) => {
    const wanted = wantedFor(value);
    return wanted !== undefined && shapeOf(wanted) !== shapeOf({ type: value.type, value: value.content });
  });
  const uses = await findValueUses(transaction, changed.map(({ id }) => id)); // prettier-ignore
  const broken = changed.find(({ id }) => uses.some(({ valueId }) => valueId === id));
  if (broken === undefined) return;
  const wanted = wantedFor(broken);
  const was = shapeOf({ type: broken.type, value: broken.content });
  const what = `The value "${broken.name}" is a ${was} and cannot become a ${wanted ? shapeOf(wanted) : was}`;
  throw inUse(what, uses.filter(({ valueId }) => valueId === broken.id)); // prettier-ignore
};

const shapeOf = ({ type, value }: ValueContent): string =>
  type === 'function' ? `function of ${(value as FunctionContent).parameters.length} parameters` : type; // its type says so

const groupByValue = (uses: readonly RuleUse[]): ReadonlyMap<string, readonly RuleUse[]> => {
  const byValue = new Map<string, RuleUse[]>();
  for (const use of uses) byValue.set(use.valueId, [...(byValue.get(use.valueId) ?? []), use]);
  return byValue;
};

const valueNotFound = (id: string): ServiceError =>
  new ServiceError('value_not_found', `No value with the id ${id} is visible to this key.`, { id });

const nameTaken = (what: string, details: { readonly name?: string | undefined }): ServiceError =>
  new ServiceError(
    'value_name_taken',
    `Another value of the workspace, perhaps one that this key does not see, has ${what}; choose another.`,
    details,
  );

const managed = ({ name, object }: Omit<ManagedRefusal, 'status'>): ServiceError =>
  new ServiceError(
    'value_managed',
    `The object "${object.name}" generates the value "${name}"; change the enum in the object instead.`,
    { name, object },
  );

/** Names the rules that the caller may see, and counts the others. */
const inUse = (what: string, uses: readonly RuleUse[]): ServiceError => {
  const rules = toUsages(uses);
  const hidden = uses.length - rules.length;
  const users = [
    ...rules.slice(0, 5).map(({ slug }) => `"${slug}"`),
    ...(rules.length > 5 ? [`${rules.length - 5} more`] : []),
    ...(hidden > 0 ? [`${hidden} that this key does not see`] : []),
  ].join(', ');
  return new ServiceError('value_in_use', `${what}: rules use it (${users}).`, {
    rules: rules.map(({ id, slug, name }) => ({ id, slug, name })),
    hidden_rules: hidden,
  });
};
