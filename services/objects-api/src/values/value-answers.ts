import {
  type AssetKind,
  type AssetUsage,
  cacheKeys,
  type ListedValue,
  ServiceError,
  toAnswer,
  valueFields,
  type ValueRecord,
} from '@decision/contracts';
import { type ManagedRefusal, type Announcement, type AssetUse, type WorkspaceAccess } from '@decision/persistence';

/** A value as lists show it. */
export const toListedValue = (value: ValueRecord): ListedValue => toAnswer(valueFields, value);

/** The rules and flows of uses, as far as the caller may see them. */
export const toUsages = (uses: readonly AssetUse[]): AssetUsage[] =>
  uses.flatMap(({ assetId, asset }) =>
    asset === undefined
      ? []
      : [
          {
            type: asset.kind,
            id: assetId,
            name: asset.name,
            description: asset.description,
            slug: asset.slug,
            published: asset.published,
            updated_at: asset.updatedAt,
          },
        ],
  );

export const valueNotFound = (id: string): ServiceError =>
  new ServiceError('value_not_found', `No value with the id ${id} is visible to this key.`, { id });

export const nameTaken = (what: string, details: { readonly name?: string | undefined }): ServiceError =>
  new ServiceError(
    'value_name_taken',
    `Another value of the workspace, perhaps one that this key does not see, has ${what}; choose another.`,
    details,
  );

export const managed = ({ name, object }: Omit<ManagedRefusal, 'status'>): ServiceError =>
  new ServiceError(
    'value_managed',
    `The object "${object.name}" generates the value "${name}"; change the enum in the object instead.`,
    { name, object },
  );

/** Names the rules and flows that the caller may see, and counts the others. */
export const inUse = (what: string, uses: readonly AssetUse[]): ServiceError => {
  const visible = toUsages(uses);
  const hidden = uses.length - visible.length;
  const named = (wanted: AssetKind) =>
    visible.filter(({ type }) => type === wanted).map(({ id, slug, name }) => ({ id, slug, name }));
  const [rules, flows] = [named('rule'), named('flow')];
  const users = [
    ...visible.slice(0, 5).map(({ slug }) => `"${slug}"`),
    ...(visible.length > 5 ? [`${visible.length - 5} more`] : []),
    ...(hidden > 0 ? [`${hidden} that this key does not see`] : []),
  ].join(', ');
  const kinds = flows.length === 0 ? 'rules' : rules.length === 0 && hidden === 0 ? 'flows' : 'rules and flows';
  return new ServiceError('value_in_use', `${what}: ${kinds} use it (${users}).`, {
    rules,
    ...(flows.length > 0 ? { flows } : {}),
    hidden_rules: hidden,
  });
};

/** Callers cannot change lists that they do not see. */
export const referredToByHidden = (name: string, hiddenLists: number): ServiceError =>
  new ServiceError(
    'value_in_use',
    `The value "${name}" cannot be deleted: ${hiddenLists} lists that this key does not see refer to it.`,
    { rules: [], hidden_rules: 0, hidden_lists: hiddenLists },
  );

/** Announcement of every change of values: processes that hold values of the workspace reload them. */
export const staleValues = ({ workspaceId }: WorkspaceAccess): Announcement => ({
  kind: 'value',
  keys: [cacheKeys.valueRevision(workspaceId)],
});
