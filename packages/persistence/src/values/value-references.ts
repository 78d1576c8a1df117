import { type AssetKind } from '@decision/contracts';
import { query, type Transaction } from '../connection/query';

/** An element of a list that refers to a value of the workspace. */
export interface ValueReference {
  readonly $rb: 'globalValue';
  readonly id: string;
  /** The name when the list was written; the id is decisive. */
  readonly name: string;
}

export const isValueReference = (element: unknown): element is ValueReference =>
  typeof element === 'object' &&
  element !== null &&
  '$rb' in element &&
  'id' in element &&
  typeof element.id === 'string';

/** Ids of the values to which a content refers. Only elements of a list can refer to values, not elements nested in them. */
export const referencesIn = (content: unknown): readonly string[] =>
  Array.isArray(content) ? content.filter(isValueReference).map(({ id }) => id) : [];

/** The content with its references replaced by the values they refer to; unknown references stay. */
export const resolveContent = (content: unknown, contentOf: ReadonlyMap<string, unknown>): unknown =>
  Array.isArray(content)
    ? content.map((element: unknown) =>
        isValueReference(element) && contentOf.has(element.id) ? contentOf.get(element.id) : element,
      )
    : content;

/** The view of the values: the caller's, or that of the rules of the workspace, which see all. */
type ReferenceView = 'caller' | 'rules';

const SOURCES: Readonly<Record<ReferenceView, string>> = {
  caller: 'workspace_values where id = any (cast(:ids as uuid[]))',
  rules: 'find_bound_values(cast(:ids as uuid[]))',
};

/** The values with the references of their lists resolved. References that the view does not show stay. */
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

/** A list that refers to a value. */
export interface ReferringValue {
  readonly id: string;
  readonly refersTo: readonly string[];
  /** Undefined if the access may not see it. */
  readonly visible: { readonly name: string; readonly content: unknown } | undefined;
}

interface ReferringRow {
  readonly id: string;
  readonly refers_to: string[];
  readonly name: string | null;
  readonly content: unknown;
}

const REFERRING = /* sql */ `
  select referring.id, referring.refers_to, workspace_values.name, workspace_values.content
  from find_referring_values(cast(:ids as uuid[])) as referring
    left join workspace_values on workspace_values.id = referring.id
  order by workspace_values.name nulls last, referring.id`;

/** Every list that refers to one of these values, including archived ones. */
export const findReferringValues = async (
  transaction: Transaction,
  ids: readonly string[],
): Promise<readonly ReferringValue[]> =>
  ids.length === 0
    ? []
    : (await query<ReferringRow>(transaction, REFERRING, { ids })).map(
        ({ id, refers_to: refersTo, name, content }) => ({
          id,
          refersTo,
          visible: name === null ? undefined : { name, content },
        }),
      );

/** The use of a value by a rule or flow, in its draft or in a version that was ever published. */
export interface AssetUse {
  readonly valueId: string;
  readonly assetId: string;
  /** Undefined if the access may not see the asset, or only a version of it is kept. */
  readonly asset: UsingAsset | undefined;
}

interface UsingAsset {
  readonly kind: AssetKind;
  readonly name: string;
  readonly description: string | null;
  readonly slug: string;
  readonly published: boolean;
  /** ISO 8601 UTC with milliseconds. */
  readonly updatedAt: string;
}

interface UseRow {
  readonly value_id: string;
  readonly rule_id: string;
  readonly kind: AssetKind | null;
  readonly name: string | null;
  readonly description: string | null;
  readonly slug: string | null;
  readonly published: boolean | null;
  readonly updated_at: Date | null;
}

/** The join is subject to row security: of hidden assets only their existence is reported. */
const USES = /* sql */ `
  select uses.value_id, uses.rule_id, assets.kind, assets.name, assets.description, assets.slug,
    assets.published_version_id is not null as published, assets.updated_at
  from find_value_uses(cast(:ids as uuid[])) as uses left join assets on assets.id = uses.rule_id
  order by assets.slug nulls last, uses.rule_id`;

/** Every use of these values. */
export const findValueUses = async (transaction: Transaction, ids: readonly string[]): Promise<readonly AssetUse[]> =>
  ids.length === 0 ? [] : (await query<UseRow>(transaction, USES, { ids })).map(toUse);

const toUse = ({ value_id, rule_id, kind, name, slug, description, published, updated_at }: UseRow): AssetUse => ({
  valueId: value_id,
  assetId: rule_id,
  asset:
    kind === null || name === null || slug === null || updated_at === null
      ? undefined
      : { kind, name, slug, description, published: published === true, updatedAt: updated_at.toISOString() },
});
