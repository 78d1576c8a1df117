import { type ValueType } from '@decision/contracts';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { entriesToRead, type PageRequest, startOfPage, takePage } from '../paging/page';
import { resolveReferences } from './value-references';

/** A value of the workspace. Times are ISO 8601 UTC with milliseconds. */
export interface ValueRecord {
  readonly id: string;
  readonly name: string;
  readonly type: ValueType;
  /** For a function its parameters and formula. */
  readonly content: unknown;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Empty: an access that is restricted to groups does not see it. */
  readonly userGroups: readonly string[];
  /** Null while it is active. */
  readonly archivedAt: string | null;
  /** The object that generates it, and alone may change it; null for values written by hand. */
  readonly managedBy: ManagingObject | null;
  /** Ids of the values to which the list refers. */
  readonly refersTo: readonly string[];
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** An object as its values know it. */
export interface ManagingObject {
  readonly id: string;
  readonly name: string;
}

/** The columns behind {@link ValueRecord}. */
export interface ValueRow {
  readonly id: string;
  readonly name: string;
  readonly type: ValueType;
  readonly content: unknown;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly user_groups: string[];
  readonly archived_at: Date | null;
  readonly object_id: string | null;
  readonly refers_to: string[];
  readonly object_name: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const OWN_COLUMNS = [
  'id',
  'name',
  'type',
  'content',
  'metadata',
  'user_groups',
  'archived_at',
  'object_id',
  'refers_to',
  'created_at',
  'updated_at',
];

/** The name of the object behind `object_id`, visible to everybody who sees the value. */
export const objectName = /* sql */ `
  (select workspace_objects.name from workspace_objects where workspace_objects.id = workspace_values.object_id) as object_name`;

/** Select list of a {@link ValueRow}. */
export const valueColumns = [...OWN_COLUMNS.map((column) => `workspace_values.${column}`), objectName].join(', ');

export const toValueRecord = (row: ValueRow): ValueRecord => ({
  id: row.id,
  name: row.name,
  type: row.type,
  content: row.content,
  metadata: row.metadata,
  userGroups: row.user_groups,
  archivedAt: row.archived_at?.toISOString() ?? null,
  managedBy: row.object_id === null ? null : { id: row.object_id, name: row.object_name ?? '' },
  refersTo: row.refers_to,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

/** Which values are wanted: those of these ids and those of these names. */
interface ValueNames {
  readonly ids?: Iterable<string>;
  readonly names?: Iterable<string>;
}

/** The part of a value that rules use. */
export interface BoundValue {
  readonly id: string;
  readonly name: string;
  readonly type: ValueType;
  readonly content: unknown;
}

/**
 * Purpose of the values. `refer` keeps them from being deleted until the transaction ends; `change` from being changed too, and takes them in the
 * order of their names, so that two writers wait for each other instead of meeting head on.
 */
type ValuePurpose = 'refer' | 'change';

const FIND = /* sql */ `
  select ${valueColumns} from workspace_values
  where id = any (cast(:ids as uuid[])) or name = any (cast(:names as text[]))
  order by name`;

const LOCKS: Readonly<Record<ValuePurpose, string>> = {
  refer: 'for key share of workspace_values',
  change: 'for update of workspace_values',
};

const FIND_BOUND = /* sql */ `select id, name, type, content from find_bound_values(cast(:ids as uuid[]))`;

/** The values that are visible, archived ones too, by name. */
export const findValues = async (
  transaction: Transaction,
  { ids = [], names = [] }: ValueNames,
  purpose: ValuePurpose = 'refer',
): Promise<readonly ValueRecord[]> => {
  const bindings = { ids: [...ids].filter(isUuid), names: [...names] };
  if (bindings.ids.length + bindings.names.length === 0) return [];
  return (await query<ValueRow>(transaction, `${FIND} ${LOCKS[purpose]}`, bindings)).map(toValueRecord);
};

/**
 * Values that a rule of the workspace refers to already, without regard to groups: whoever may change the rule may keep what it refers to.
 */
export const findBoundValues = async (
  transaction: Transaction,
  ids: Iterable<string>,
): Promise<readonly BoundValue[]> => {
  const wanted = [...ids].filter(isUuid);
  if (wanted.length === 0) return [];
  return resolveReferences(transaction, await query<BoundValue>(transaction, FIND_BOUND, { ids: wanted }), 'rules');
};

/** Which values are wanted; all given filters must hold. */
interface ValueFilters {
  /** Exact name. */
  readonly name?: string | undefined;
  /** Beginning of the name. */
  readonly prefix?: string | undefined;
  readonly type?: ValueType | undefined;
  readonly userGroup?: string | undefined;
  /** Whether archived values are listed too; default: they are not. */
  readonly withArchived?: boolean | undefined;
}

interface ValueList {
  readonly values: readonly ValueRecord[];
  /** Null on the last page, and where no page was asked for. */
  readonly nextCursor: string | null;
}

/** The values that are visible and pass the filters, newest first: all of them, or one page. Throws `invalid_request` for a bad cursor. */
export const listValues = async (
  transaction: Transaction,
  { name, prefix, type, userGroup, withArchived = false }: ValueFilters,
  page?: PageRequest,
): Promise<ValueList> => {
  const start = startOfPage(page?.cursor, 'workspace_values');
  const conditions = [
    start.condition,
    ...(withArchived ? [] : ['archived_at is null']),
    ...(name === undefined ? [] : ['name = :name']),
    ...(prefix === undefined ? [] : ['starts_with(name, :prefix)']),
    ...(type === undefined ? [] : ['type = :type']),
    ...(userGroup === undefined ? [] : [':user_group = any (user_groups)']),
  ];
  const rows = await query<ValueRow>(
    transaction,
    /* sql */ `
    select ${valueColumns} from workspace_values where ${conditions.join(' and ')}
    order by created_at desc, id desc
    limit ${page ? ':limit' : 'all'}`,
    {
      ...start.bindings,
      name: name ?? null,
      prefix: prefix ?? null,
      type: type ?? null,
      user_group: userGroup ?? null,
      limit: page ? entriesToRead(page) : null,
    },
  );
  const values = rows.map(toValueRecord);
  if (page === undefined) return { values, nextCursor: null };
  const { entries, nextCursor } = takePage(values, page);
  return { values: entries, nextCursor };
};
