import { query, type Transaction } from '../../connection/query';
import { together } from '../../connection/together';

/** Types of members that can equal the value of a fact, or an element of its list; lists and objects equal none. */
const COMPARED = "('string', 'number', 'boolean', 'null')";

/**
 * Members of collections: values named `<collection>.<member>`, elements of a list value of the collection's name, and values to which such a
 * list refers. With `sought`, only those whose text has the hash of a sought one.
 */
const members = (only: 'all' | 'sought'): string => {
  const isSought = only === 'sought';
  return /* sql */ `
  with given as (
    ${
      isSought
        ? `select distinct name, hashtextextended(text, 0) as hash
           from unnest(cast(:names as text[]), cast(:texts as text[])) as given (name, text)`
        : 'select name, null as hash from unnest(cast(:names as text[])) as given (name)'
    }
  ), lists as materialized (
    select name, content, refers_to, user_groups from workspace_values
    where name = any (cast(:names as text[])) and type = 'list' and archived_at is null
  )
  select given.name, member.content, member.user_groups, cast(null as text[]) as list_groups
  from given join workspace_values as member on starts_with(member.name, given.name || '.')
    and member.content_hash ${isSought ? '= given.hash' : 'is not null'}
  where member.archived_at is null
  union all
  select lists.name, element.value, lists.user_groups, null
  from lists cross join json_array_elements(lists.content) as element (value)
  where json_typeof(element.value) in ${COMPARED} ${
    isSought
      ? 'and (lists.name, hashtextextended(cast(element.value as text), 0)) in (select name, hash from given)'
      : ''
  }
  union all
  select lists.name, member.content, member.user_groups, lists.user_groups
  from given join lists on lists.name = given.name
    join workspace_values as member on member.id = any (lists.refers_to)
      and member.content_hash ${isSought ? '= given.hash' : 'is not null'}`;
};

const ALL_MEMBERS = members('all');
const SOUGHT_MEMBERS = members('sought');

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

interface MemberRow {
  /** Name of the collection. */
  readonly name: string;
  readonly content: unknown;
  readonly user_groups: readonly string[];
  /** Groups of the list that refers to this value. */
  readonly list_groups: readonly string[] | null;
}

/** Members of collections by the collection's name. */
type Members = ReadonlyMap<string, readonly unknown[]>;

/**
 * Visible members of the collections of values of these names: elements of a list value of the name, values to which it refers, and values named
 * `<collection>.<member>`. For a context, only those that its facts may hold (V8).
 */
export const loadCollections = async (
  transaction: Transaction,
  names: readonly string[],
  contextId?: string,
): Promise<Members> => {
  const [rows, groups] = await together(
    query<MemberRow>(transaction, ALL_MEMBERS, { names }),
    contextId === undefined ? Promise.resolve({}) : findCollectionGroups(transaction, contextId),
  );
  return membersByName(names, rows, groups);
};

/**
 * Those of the sought values, by collection, that a fact of the context may hold, and possibly some others. Looked up by an index, so the size of
 * a collection matters only where it is a list value.
 */
export const findMembers = async (
  transaction: Transaction,
  contextId: string,
  sought: ReadonlyMap<string, ReadonlySet<unknown>>,
): Promise<Members> => {
  const given = [...sought].flatMap(([name, values]) =>
    [...values].filter(isCompared).map((value) => ({ name, text: JSON.stringify(value) })),
  );
  const bindings = { names: given.map(({ name }) => name), texts: given.map(({ text }) => text) };
  const [rows, groups] = await together(
    query<MemberRow>(transaction, SOUGHT_MEMBERS, bindings),
    findCollectionGroups(transaction, contextId),
  );
  return membersByName([...sought.keys()], rows, groups);
};

const isCompared = (value: unknown): boolean =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

const membersByName = (
  names: readonly string[],
  rows: readonly MemberRow[],
  groupsOf: CollectionGroups,
): Map<string, unknown[]> => {
  const found = new Map(names.map((name): [string, unknown[]] => [name, []]));
  for (const { name, content, user_groups: groups, list_groups: listGroups } of rows) {
    const own = Object.hasOwn(groupsOf, name) ? (groupsOf[name] ?? undefined) : undefined;
    const isSeen = (those: readonly string[]): boolean =>
      own === undefined || those.some((group) => own.includes(group));
    if (isSeen(groups) && isSeen(listGroups ?? groups)) found.get(name)?.push(content);
  }
  return found;
};
