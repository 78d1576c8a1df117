import {
  contextSettings,
  type ContextSettingValues,
  type RelationType,
  type SettingFields,
  toAnswer,
  toValues,
} from '@decision/contracts';
import { type Change } from '../../audit/change';
import { recordChange } from '../../audit/record-change';
import { changedNow } from '../../connection/changed-now';
import { type Bindings, query, type Transaction } from '../../connection/query';
import { writeUnlessTaken } from '../../connection/unique-violation';
import { isUuid } from '../../connection/uuid';
import { entriesToRead, type PageRequest, startOfPage, takePage } from '../../paging/page';

/** A context without the fields that the database adds. */
export interface ContextSettings extends ContextSettingValues {
  /** Empty: an access that is restricted to groups does not see it. */
  readonly userGroups: readonly string[];
  /** A folder of the workspace; null if it is in none. */
  readonly folderId: string | null;
}

/** A context as it is stored. Times are ISO 8601 UTC with milliseconds. */
export interface ContextRecord extends ContextSettings {
  readonly id: string;
  readonly slug: string;
  readonly folderName: string | null;
  readonly createdAt: string;
  /** Strictly later with each change. */
  readonly updatedAt: string;
}

/** A relationship between two contexts. */
export interface RelationshipRecord {
  readonly id: string;
  readonly fromContextId: string;
  readonly toContextId: string;
  readonly name: string;
  readonly type: RelationType;
  readonly foreignKeyFact: string;
  readonly description: string | null;
  readonly createdAt: string;
}

export interface ContextRow extends SettingFields<typeof contextSettings> {
  readonly id: string;
  readonly slug: string;
  readonly user_groups: string[];
  readonly folder_id: string | null;
  readonly folder_name: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Columns of `contexts` that a request sets, with their types. */
const WRITTEN_COLUMNS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(contextSettings).map(([name, { column }]) => [name, column])),
  user_groups: 'text[]',
  folder_id: 'uuid',
};

/** Names of the written columns, and the expressions of their values in the same order. */
const writtenColumns = Object.keys(WRITTEN_COLUMNS).join(', ');
const writtenValues = Object.entries(WRITTEN_COLUMNS)
  .map(([name, type]) => `cast(:${name} as ${type})`)
  .join(', ');

/** Bindings of {@link writtenValues}. */
const toBindings = ({ userGroups, folderId, ...values }: ContextSettings): Bindings => {
  const { schema, logging, ...fields } = toAnswer(contextSettings, values);
  const documents = { schema: JSON.stringify(schema), logging: logging === null ? null : JSON.stringify(logging) };
  return { ...fields, ...documents, user_groups: userGroups, folder_id: folderId };
};

/** Select list of a {@link ContextRow}, from `contexts`. */
export const contextColumns = `
  ${['id', 'slug', ...Object.keys(WRITTEN_COLUMNS)].map((name) => `contexts.${name}`).join(', ')},
  (select folders.name from folders where folders.id = contexts.folder_id) as folder_name, contexts.created_at, contexts.updated_at`;

export const toContextRecord = (row: ContextRow): ContextRecord => ({
  id: row.id,
  slug: row.slug,
  ...toValues(contextSettings, row),
  userGroups: row.user_groups,
  folderId: row.folder_id,
  folderName: row.folder_name,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

export interface RelationshipRow {
  readonly id: string;
  readonly from_context_id: string;
  readonly to_context_id: string;
  readonly name: string;
  readonly relation_type: RelationType;
  readonly foreign_key_fact: string;
  readonly description: string | null;
  readonly created_at: Date;
}

/** Select list of a {@link RelationshipRow}. */
export const relationshipColumns =
  'id, from_context_id, to_context_id, name, relation_type, foreign_key_fact, description, created_at';

export const toRelationshipRecord = (row: RelationshipRow): RelationshipRecord => ({
  id: row.id,
  fromContextId: row.from_context_id,
  toContextId: row.to_context_id,
  name: row.name,
  type: row.relation_type,
  foreignKeyFact: row.foreign_key_fact,
  description: row.description,
  createdAt: row.created_at.toISOString(),
});

/** A change of a context for the audit. */
const changeOfContext = (action: string, before?: ContextRecord, after?: ContextRecord): Change => {
  const { id, slug, userGroups } = after ?? before ?? { id: '', slug: '', userGroups: [] };
  return { kind: 'context', action, id, name: slug, userGroups, before, after };
};

export interface NewContext extends ContextSettings {
  /** A UUID. */
  readonly id: string;
  readonly slug: string;
}

const CREATED_LIKE = /* sql */ `
  select ${contextColumns} from contexts
  where name = :name and created_by is not distinct from app_actor()
    and (cast(:slug as text) is null or slug = :slug)
    and (cast(:slug as text) is not null or updated_at = created_at
      and not exists (select from context_instances i where i.context_id = contexts.id)
      and not exists (select from context_relationships r where contexts.id in (r.from_context_id, r.to_context_id)))
  order by contexts.created_at desc limit :limit`;
/** Contexts of one name that are compared with a new one. */
const MOST_LIKE = 20;

/**
 * Contexts of a name that this identity created: the one of a slug or, without a slug, those that nobody has changed or used since, the
 * newest first.
 */
export const findCreatedLike = async (
  transaction: Transaction,
  { name, slug }: { readonly name: string; readonly slug: string | undefined },
): Promise<readonly ContextRecord[]> => {
  const rows = await query<ContextRow>(transaction, CREATED_LIKE, { name, slug: slug ?? null, limit: MOST_LIKE });
  return rows.map(toContextRecord);
};

type InsertContextOutcome =
  | { readonly status: 'inserted'; readonly context: ContextRecord }
  /** Another context, perhaps a hidden one, has the slug. */
  | { readonly status: 'slug_taken' };

const INSERT = /* sql */ `
  insert into contexts (id, slug, ${writtenColumns}) values (cast(:id as uuid), :slug, ${writtenValues})
  returning ${contextColumns}`;

/** Stores a new context. Throws `forbidden` if a restricted access names groups that it does not have, or none. */
export const insertContext = async (transaction: Transaction, context: NewContext): Promise<InsertContextOutcome> => {
  const { id, slug } = context;
  const writing = await writeUnlessTaken(transaction, (savepoint) =>
    query<ContextRow>(savepoint, INSERT, { ...toBindings(context), id, slug }),
  );
  const [row] = writing.status === 'taken' ? [] : writing.value;
  if (row === undefined) return { status: 'slug_taken' };
  const inserted = toContextRecord(row);
  await recordChange(transaction, changeOfContext('create', undefined, inserted));
  return { status: 'inserted', context: inserted };
};

/** Names a context: by id, or by slug. */
type ContextName = { readonly id: string } | { readonly slug: string };

const FIND = /* sql */ `
  select ${contextColumns} from contexts
  where case when cast(:id as uuid) is null then slug = :slug else id = cast(:id as uuid) end`;

/** The context of this id or slug; undefined if none is visible. */
export const findContext = async (transaction: Transaction, name: ContextName): Promise<ContextRecord | undefined> => {
  if ('id' in name && !isUuid(name.id)) return undefined;
  const bindings = 'id' in name ? { id: name.id, slug: null } : { id: null, slug: name.slug };
  const [row] = await query<ContextRow>(transaction, FIND, bindings);
  return row && toContextRecord(row);
};

/** The visible context that a path names by id or by slug; undefined if there is none. */
export const findContextByName = async (transaction: Transaction, name: string): Promise<ContextRecord | undefined> =>
  (await findContext(transaction, { id: name })) ?? findContext(transaction, { slug: name });

const UPDATE = /* sql */ `
  update contexts set (${writtenColumns}) = row (${writtenValues}),
    ${changedNow()}, updated_by = app_actor()
  where id = cast(:id as uuid)
  returning ${contextColumns}`;

/** Changes a context as a whole; undefined if it is not visible. Throws `forbidden` as {@link insertContext} does. */
export const updateContext = async (
  transaction: Transaction,
  id: string,
  settings: ContextSettings,
): Promise<ContextRecord | undefined> => {
  const before = await findContext(transaction, { id });
  if (before === undefined) return undefined;
  const [row] = await query<ContextRow>(transaction, UPDATE, { ...toBindings(settings), id });
  if (row === undefined) return undefined;
  const after = toContextRecord(row);
  await recordChange(transaction, changeOfContext('update', before, after));
  return after;
};

const COUNT_REGISTERED = /* sql */ `
  select count(*) as registered from context_registrations where context_id = cast(:id as uuid)`;

const HIDE = /* sql */ `select hide_context(cast(:id as uuid)) as hidden`;

/** A deleted context. */
export interface DeletedContext {
  readonly context: ContextRecord;
  /** Registered evaluations that ended with it. */
  readonly registered: number;
}

/**
 * Deletes a context with its relationships; undefined if it is not visible. This transaction hides it and its instances from everyone and
 * frees its slug; the data is removed afterwards ({@link removeContextStep}, ADR 29).
 */
export const deleteContext = async (transaction: Transaction, id: string): Promise<DeletedContext | undefined> => {
  const context = await findContext(transaction, { id });
  if (context === undefined) return undefined;
  const [counted] = await query<{ registered: string }>(transaction, COUNT_REGISTERED, { id });
  const [row] = await query<{ hidden: boolean }>(transaction, HIDE, { id });
  if (row?.hidden !== true) return undefined;
  await recordChange(transaction, changeOfContext('delete', context));
  return { context, registered: Number(counted?.registered ?? 0) };
};

/** Filters for contexts; all given filters must hold. */
export interface ContextFilters {
  /** Exact name. */
  readonly name?: string | undefined;
  readonly userGroup?: string | undefined;
  /** Id or name of the folder. */
  readonly folder?: string | undefined;
}

/** A context as lists show it. */
export interface ListedContext extends ContextRecord {
  readonly boundRules: number;
  readonly boundFlows: number;
  readonly relationships: number;
}

interface ContextList {
  readonly contexts: readonly ListedContext[];
  /** Null on the last page, and if no page was requested. */
  readonly nextCursor: string | null;
}

interface ListedRow extends ContextRow {
  readonly bound_rules: number;
  readonly bound_flows: number;
  readonly relationships: number;
}

const COUNTS = /* sql */ `
  (select cast(count(*) as integer) from assets where assets.context_slug = contexts.slug and assets.kind = 'rule') as bound_rules,
  (select cast(count(*) as integer) from assets where assets.context_slug = contexts.slug and assets.kind = 'flow') as bound_flows,
  (select cast(count(*) as integer) from context_relationships r
   where contexts.id in (r.from_context_id, r.to_context_id)) as relationships`;

/** Visible contexts that pass the filters, newest first: all of them, or one page. Throws `invalid_request` for a foreign cursor. */
export const listContexts = async (
  transaction: Transaction,
  { name, userGroup, folder }: ContextFilters,
  page?: PageRequest,
): Promise<ContextList> => {
  const start = startOfPage(page?.cursor, 'contexts');
  const rows = await query<ListedRow>(
    transaction,
    /* sql */ `
    select ${contextColumns}, ${COUNTS} from contexts left join folders on folders.id = contexts.folder_id
    where ${start.condition}
      and (cast(:name as text) is null or contexts.name = :name)
      and (cast(:user_group as text) is null or cast(:user_group as text) = any (contexts.user_groups))
      and (cast(:folder as text) is null or :folder in (cast(folders.id as text), folders.name))
    order by contexts.created_at desc, contexts.id desc
    limit ${page ? ':limit' : 'all'}`,
    {
      ...start.bindings,
      name: name ?? null,
      user_group: userGroup ?? null,
      folder: folder ?? null,
      limit: page ? entriesToRead(page) : null,
    },
  );
  const contexts = rows.map((row) => ({
    ...toContextRecord(row),
    boundRules: row.bound_rules,
    boundFlows: row.bound_flows,
    relationships: row.relationships,
  }));
  if (page === undefined) return { contexts, nextCursor: null };
  const { entries, nextCursor } = takePage(contexts, page);
  return { contexts: entries, nextCursor };
};
