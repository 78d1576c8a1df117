import { changedNow } from '../../connection/changed-now';
import { type RuleField } from '@decision/contracts';
import { recordChange } from '../../audit/record-change';
import { query, type Transaction } from '../../connection/query';
import { isUuid } from '../../connection/uuid';

/** A rule that names a context in its `context` field. */
export interface BoundRuleRecord {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly published: boolean;
  /** Which version the binding means: `latest`, a number as text, or the slug of an environment. */
  readonly selector: string;
  /** The version that this is now; null where there is none. */
  readonly versionId: string | null;
}

interface BoundRow {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly published: boolean;
  readonly selector: string;
  readonly version_id: string | null;
}

const COLUMNS = /* sql */ `
  rules.id, rules.slug, rules.name, rules.published_version_id is not null as published, bound.selector,
    case
      when rules.published_version_id is null then null
      when bound.selector = 'latest' then rules.published_version_id
      when bound.selector ~ '^[1-9][0-9]{0,8}$' then (
        select versions.id from rule_versions versions
        where versions.rule_id = rules.id and versions.number = cast(bound.selector as integer)
      )
      else (
        select releases.version_id from releases join environments on environments.id = releases.environment_id
        where releases.rule_id = rules.id and releases.state = 'live' and environments.slug = bound.selector
      )
    end as version_id`;

const SELECTOR = /* sql */ `
  lateral (select coalesce(rules.context ->> 'version', 'latest') as selector) bound`;

const FIND = /* sql */ `
  select ${COLUMNS} from rules cross join ${SELECTOR}
  where rules.context_slug = :slug
  order by rules.slug`;

/** The visible rules that are bound to the context of this slug, by slug. */
export const findBoundRules = async (
  transaction: Transaction,
  contextSlug: string,
): Promise<readonly BoundRuleRecord[]> => {
  const rows = await query<BoundRow>(transaction, FIND, { slug: contextSlug });
  return rows.map(toBoundRule);
};

const toBoundRule = ({ id, slug, name, published, selector, version_id }: BoundRow): BoundRuleRecord => ({
  ...{ id, slug, name, published, selector },
  versionId: version_id,
});

/** Identification of the definition of a context that is in force now: small, and always read in one statement. */
export interface ContextInForce {
  readonly id: string;
  /** Counts the changes of the definitions of the workspace, as `findContextRevision` does. */
  readonly revision: number;
  /** By slug. */
  readonly rules: readonly BoundRuleRecord[];
}

const FIND_IN_FORCE = /* sql */ `
  select contexts.id as context_id, coalesce((select worlds.revision from context_worlds worlds), 0) as revision, rule.*
  from contexts
  left join lateral (
    select ${COLUMNS} from rules cross join ${SELECTOR} where rules.context_slug = contexts.slug
  ) rule on true
  where case when cast(:id as uuid) is null then contexts.slug = :slug else contexts.id = cast(:id as uuid) end
  order by rule.slug`;

type InForceRow = { readonly context_id: string; readonly revision: string } & (BoundRow | { readonly id: null });

/** The visible context of a slug or id, with the visible rules that are bound to it; undefined where there is none. */
export const findContextInForce = async (
  transaction: Transaction,
  name: { readonly id: string } | { readonly slug: string },
): Promise<ContextInForce | undefined> => {
  if ('id' in name && !isUuid(name.id)) return undefined;
  const bindings = 'id' in name ? { id: name.id, slug: null } : { id: null, slug: name.slug };
  const rows = await query<InForceRow>(transaction, FIND_IN_FORCE, bindings);
  const [first] = rows;
  if (first === undefined) return undefined;
  const rules = rows.flatMap((row) => (row.id === null ? [] : [toBoundRule(row)]));
  return { id: first.context_id, revision: Number(first.revision), rules };
};

/** The fields of a published version. */
export interface RuleInterface {
  readonly requestSchema: readonly RuleField[];
  readonly responseSchema: readonly RuleField[];
}

const INTERFACE = /* sql */ `
  select definition -> 'requestSchema' as request, definition -> 'responseSchema' as response
  from rule_versions where id = cast(:id as uuid)`;

/** Inputs and outputs of a published version, which never change; undefined where it is not visible. */
export const loadRuleInterface = async (
  transaction: Transaction,
  versionId: string,
): Promise<RuleInterface | undefined> => {
  if (!isUuid(versionId)) return undefined;
  const [row] = await query<{ request: RuleField[]; response: RuleField[] }>(transaction, INTERFACE, { id: versionId });
  return row && { requestSchema: row.request, responseSchema: row.response };
};

const UNBIND = /* sql */ `
  update rules set context = 'null', ${changedNow()}
  where rules.context_slug = :slug returning id, slug, user_groups`;

/** Frees every visible rule from a context that goes; answers their slugs. */
export const unbindRules = async (transaction: Transaction, contextSlug: string): Promise<readonly string[]> => {
  const rows = await query<{ id: string; slug: string; user_groups: string[] }>(transaction, UNBIND, {
    slug: contextSlug,
  });
  await recordChange(
    transaction,
    rows.map(({ id, slug, user_groups: userGroups }) => ({
      ...{ kind: 'rule' as const, action: 'unbind', id, name: slug, userGroups },
      before: { context: contextSlug },
      after: { context: null },
    })),
  );
  return rows.map(({ slug }) => slug).sort();
};

const COLLECTIONS = /* sql */ `
  select name, type, content, user_groups from workspace_values
  where archived_at is null and (name = any (cast(:names as text[])) or exists (
    select from unnest(cast(:names as text[])) as collection where starts_with(workspace_values.name, collection || '.')
  ))`;

const COLLECTION_GROUPS = /* sql */ `select collection_groups from contexts where id = cast(:id as uuid)`;

/** By collection, the groups of the key that named it in a context; null, or absent: that key was not restricted (V8). */
type CollectionGroups = Readonly<Record<string, readonly string[] | null>>;

export const findCollectionGroups = async (transaction: Transaction, contextId: string): Promise<CollectionGroups> => {
  const [row] = await query<{ collection_groups: CollectionGroups }>(transaction, COLLECTION_GROUPS, { id: contextId });
  return row?.collection_groups ?? {};
};

const SAVE_COLLECTION_GROUPS = /* sql */ `
  update contexts set collection_groups = cast(:groups as json) where id = cast(:id as uuid)`;

export const saveCollectionGroups = async (
  transaction: Transaction,
  contextId: string,
  groups: CollectionGroups,
): Promise<void> => {
  await query(transaction, SAVE_COLLECTION_GROUPS, { id: contextId, groups: JSON.stringify(groups) });
};

interface CollectionRow {
  readonly name: string;
  readonly type: string;
  readonly content: unknown;
  readonly user_groups: readonly string[];
}

/** Visible members of the collections of values of these names, of those that `groupsOf` speaks of only such as share a group: elements of a list value of the name, and values named `<collection>.<member>`. */
export const loadCollections = async (
  transaction: Transaction,
  names: readonly string[],
  groupsOf: CollectionGroups = {},
): Promise<ReadonlyMap<string, readonly unknown[]>> => {
  const rows = await query<CollectionRow>(transaction, COLLECTIONS, { names });
  const counts = (collection: string, { user_groups: groups }: CollectionRow): boolean => {
    const own = Object.hasOwn(groupsOf, collection) ? groupsOf[collection] : null;
    return own === null || own === undefined || groups.some((group) => own.includes(group));
  };
  return new Map(
    names.map((collection) => [
      collection,
      rows.flatMap((row) => {
        const { name, type, content } = row;
        if (!counts(collection, row)) return [];
        if (name === collection) return type === 'list' && Array.isArray(content) ? (content as unknown[]) : [];
        return name.startsWith(`${collection}.`) ? [content] : [];
      }),
    ]),
  );
};
