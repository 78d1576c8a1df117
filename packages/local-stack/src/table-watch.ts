/**
 * Runs statements on one connection as the owner of the tables, to whom row security does not apply. Returns the rows of the last
 * statement.
 */
type RunSql = (sql: string) => Promise<readonly Record<string, unknown>[]>;

/** The viewer of the tables. Without groups: unrestricted within the workspace. */
export interface TableViewer {
  readonly workspaceId: string;
  readonly userGroups: readonly string[] | undefined;
}

/** Changes of the rows of all tables since the watch began: names of tables with keys of rows. */
export interface TableChanges {
  readonly changed: readonly string[];
  /** The subset of {@link changed} that the viewer saw neither before nor after. */
  readonly hidden: readonly string[];
}

/** Records the rows of all tables, reports changes, and restores them. */
export interface TableWatch {
  /** The text of all rows, which contains the ids of things. */
  readonly text: string;
  /** Compares the rows with the recorded ones, and restores the recorded ones if anything differs. */
  findChanges(viewer: TableViewer): Promise<TableChanges>;
}

/**
 * Columns that carry no content. `revision` counts changes, for caches; it increases when rows are restored, so that no cache treats an old
 * row as current. `last_used_at` is when a key last asked for anything.
 */
const NOT_WATCHED: Readonly<Record<string, readonly string[]>> = {
  context_worlds: ['revision'],
  value_revisions: ['revision'],
  api_keys: ['last_used_at'],
};
/** The role of services, whose policies are evaluated. */
const SERVICE_ROLE = 'decision_runtime';

interface Table {
  readonly name: string;
  readonly key: readonly string[];
  /** Columns that can be written. */
  readonly columns: readonly string[];
}
type Rows = ReadonlyMap<string, string>;

export const watchTables = async (sql: RunSql): Promise<TableWatch> => {
  const tables = await readTables(sql);
  await sql(`create schema remembered; ${tables.map(({ name }) => `create table remembered.${name} as table public.${name}`).join('; ')}`); // prettier-ignore
  const before = await readRows(sql, tables);
  const texts = await sql(tables.map(({ name }) => `select cast(t as text) as text from public.${name} t`).join(' union all ')); // prettier-ignore
  const text = texts.map((row) => String(row['text'])).join('\n');
  return {
    text,
    findChanges: async (viewer) => {
      const after = await readRows(sql, tables);
      const differs = (key: string): boolean => before.get(key) !== after.get(key);
      const changed = [...new Set([...before.keys(), ...after.keys()])].filter(differs);
      if (changed.length === 0) return { changed, hidden: [] };
      const seen = await readVisible(sql, tables, viewer);
      await restore(sql, tables.filter(({ name }) => changed.some((key) => key.startsWith(`${name} `)))); // prettier-ignore
      const seenBefore = await readVisible(sql, tables, viewer);
      return { changed, hidden: changed.filter((key) => !seen.has(key) && !seenBefore.has(key)) };
    },
  };
};

const readTables = async (sql: RunSql): Promise<readonly Table[]> => {
  const rows = await sql(/* sql */ `
    select c.relname as name,
      (select array_agg(cast(a.attname as text) order by a.attnum) from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
      (select array_agg(cast(a.attname as text) order by a.attnum) from pg_index i join pg_attribute a
        on a.attrelid = c.oid and a.attnum = any (i.indkey) where i.indrelid = c.oid and i.indisprimary) as key
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' order by 1`);
  return rows as unknown as readonly Table[]; // as the statement says
};

const keyOf = ({ name, key }: Table): string =>
  `concat_ws(' ', '${name}', ${key.map((column) => `t.${column}`).join(', ')})`;

const readRows = async (sql: RunSql, tables: readonly Table[]): Promise<Rows> => {
  const selects = tables.map((table) => {
    const skipped = (NOT_WATCHED[table.name] ?? []).map((column) => ` - '${column}'`).join('');
    return `select ${keyOf(table)} as key, md5(cast(to_jsonb(t)${skipped} as text)) as hash from public.${table.name} t`;
  });
  const rows = await sql(selects.join(' union all '));
  return new Map(rows.map((row) => [String(row['key']), String(row['hash'])]));
};

/** Keys of the rows that row security shows to a viewer; empty for a table that services may not read. */
const readVisible = async (
  sql: RunSql,
  tables: readonly Table[],
  { workspaceId, userGroups }: TableViewer,
): Promise<ReadonlySet<string>> => {
  const readable = await sql(tables.map(({ name, key }) => `select '${name}' as name where ${key.map((column) => `has_column_privilege('${SERVICE_ROLE}', 'public.${name}', '${column}', 'select')`).join(' and ')}`).join(' union all ')); // prettier-ignore
  const names = new Set(readable.map((row) => row['name']));
  const groups = userGroups === undefined ? '*' : `{${userGroups.map((group) => `"${group}"`).join(',')}}`;
  await sql(`begin; set local role ${SERVICE_ROLE}; select set_config('app.workspace_id', '${workspaceId}', true), set_config('app.user_groups', '${groups}', true)`); // prettier-ignore
  const rows = await sql(tables.filter(({ name }) => names.has(name)).map((table) => `select ${keyOf(table)} as key from public.${table.name} t`).join(' union all ')); // prettier-ignore
  await sql('commit');
  return new Set(rows.map((row) => String(row['key'])));
};

const restore = async (sql: RunSql, tables: readonly Table[]): Promise<void> => {
  const each = tables.map(({ name, columns }) => {
    const list = columns.join(', ');
    return `delete from public.${name}; insert into public.${name} (${list}) overriding system value select ${list} from remembered.${name}`;
  });
  const moveOn = Object.entries(NOT_WATCHED)
    .filter(([, columns]) => columns.includes('revision'))
    .map(([name]) => `update public.${name} set revision = revision + 1`);
  // Without triggers and foreign keys: the rows were consistent when they were recorded.
  await sql(['begin', 'set local session_replication_role = replica', ...each, ...moveOn, 'commit'].join('; '));
};
