import { recordChange } from '../../audit/record-change';
import { type Bindings, query, type Transaction } from '../../connection/query';
import { writeUnlessTaken } from '../../connection/unique-violation';
import { isUuid } from '../../connection/uuid';
import { type PageRequest } from '../../paging/page';
import { entriesToRead, startOfPage, takePage } from '../../paging/take-page';
import {
  changeOfContext,
  contextColumns,
  type ContextRecord,
  type ContextRow,
  type ContextSettings,
  toContextRecord,
} from './context-record';

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
/** Contexts of one name that are compared with one that is to be created. */
const MOST_LIKE = 20;

/**
 * Contexts of a name that this identity created: the one of a slug, or where none is given those that nobody has changed or used since, the newest
 * first.
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

/** Columns that settings are written to; all in one place, so that none is forgotten. */
const SETTINGS: Readonly<Record<string, string>> = {
  name: ':name',
  description: ':description',
  schema: 'cast(:schema as json)',
  identity_fact: ':identity_fact',
  auto_execute_decisions: ':auto_execute_decisions',
  ttl_seconds: 'cast(:ttl_seconds as integer)',
  history_limit: 'cast(:history_limit as integer)',
  on_schema_mismatch: ':on_schema_mismatch',
  source_objects: 'cast(:source_objects as text[])',
  user_groups: 'cast(:user_groups as text[])',
  folder_id: 'cast(:folder_id as uuid)',
};
const COLUMNS = Object.keys(SETTINGS).join(', ');
const EXPRESSIONS = Object.values(SETTINGS).join(', ');

const bindingsOf = (settings: ContextSettings): Bindings => ({
  name: settings.name,
  description: settings.description,
  schema: JSON.stringify(settings.schema),
  identity_fact: settings.identityFact,
  auto_execute_decisions: settings.autoExecuteDecisions,
  ttl_seconds: settings.ttlSeconds,
  history_limit: settings.historyLimit,
  on_schema_mismatch: settings.onSchemaMismatch,
  source_objects: settings.sourceObjects,
  user_groups: settings.userGroups,
  folder_id: settings.folderId,
});

const INSERT = /* sql */ `
  insert into contexts (id, slug, ${COLUMNS}) values (cast(:id as uuid), :slug, ${EXPRESSIONS})
  returning ${contextColumns}`;

/** Stores a new context. Throws `forbidden` where a restricted access names groups that it does not have, or none. */
export const insertContext = async (transaction: Transaction, context: NewContext): Promise<InsertContextOutcome> => {
  const { id, slug } = context;
  const writing = await writeUnlessTaken(transaction, (savepoint) =>
    query<ContextRow>(savepoint, INSERT, { ...bindingsOf(context), id, slug }),
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

/** The context of this id or slug; undefined where none is visible. */
export const findContext = async (transaction: Transaction, name: ContextName): Promise<ContextRecord | undefined> => {
  if ('id' in name && !isUuid(name.id)) return undefined;
  const bindings = 'id' in name ? { id: name.id, slug: null } : { id: null, slug: name.slug };
  const [row] = await query<ContextRow>(transaction, FIND, bindings);
  return row && toContextRecord(row);
};

/** The visible context that a path names by id or by slug; undefined where there is none. */
export const findContextByName = async (transaction: Transaction, name: string): Promise<ContextRecord | undefined> =>
  (await findContext(transaction, { id: name })) ?? findContext(transaction, { slug: name });

const UPDATE = /* sql */ `
  update contexts set (${COLUMNS}) = row (${EXPRESSIONS}),
    updated_at = greatest(clock_timestamp(), updated_at + interval '1 millisecond'), updated_by = app_actor()
  where id = cast(:id as uuid)
  returning ${contextColumns}`;

/** Changes a context as a whole; undefined where it is not visible. Throws `forbidden` as {@link insertContext} does. */
export const updateContext = async (
  transaction: Transaction,
  id: string,
  settings: ContextSettings,
): Promise<ContextRecord | undefined> => {
  const before = await findContext(transaction, { id });
  if (before === undefined) return undefined;
  const [row] = await query<ContextRow>(transaction, UPDATE, { ...bindingsOf(settings), id });
  if (row === undefined) return undefined;
  const after = toContextRecord(row);
  await recordChange(transaction, changeOfContext('update', before, after));
  return after;
};

const COUNT_REGISTERED = /* sql */ `
  select count(*) as registered from context_registrations where context_id = cast(:id as uuid)`;

const HIDE = /* sql */ `select hide_context(cast(:id as uuid)) as hidden`;

/** A context that is gone. */
export interface DeletedContext {
  readonly context: ContextRecord;
  /** Registered evaluations that ended with it. */
  readonly registered: number;
}

/**
 * Deletes a context with its relationships; undefined where it is not visible. It and its instances are hidden from everybody with this transaction, and
 * its slug is free; the data is removed afterwards ({@link removeContextStep}).
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

/** Which contexts are wanted; all given filters must hold. */
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
  readonly relationships: number;
}

interface ContextList {
  readonly contexts: readonly ListedContext[];
  /** Null on the last page, and where no page was asked for. */
  readonly nextCursor: string | null;
}

interface ListedRow extends ContextRow {
  readonly bound_rules: number;
  readonly relationships: number;
}

const COUNTS = /* sql */ `
  (select cast(count(*) as integer) from rules where rules.context_slug = contexts.slug) as bound_rules,
  (select cast(count(*) as integer) from context_relationships r
   where contexts.id in (r.from_context_id, r.to_context_id)) as relationships`;

/** Contexts that are visible and pass the filters, newest first: all of them, or one page. Throws `invalid_request` for a strange cursor. */
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
    relationships: row.relationships,
  }));
  if (page === undefined) return { contexts, nextCursor: null };
  const { entries, nextCursor } = takePage(contexts, page);
  return { contexts: entries, nextCursor };
};
