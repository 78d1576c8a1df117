import { valueFields, type ValueRecord, type ValueType } from '@decision/contracts';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { entriesToRead, type PageRequest, startOfPage, takePage } from '../paging/page';
import { type DescribedRow, describeTable } from '../resources/described-table';
import { resolveReferences } from './value-references';

/** The object that generates a value. Its name is visible to everyone who sees the value. */
export const objectName = /* sql */ `
  (select workspace_objects.name from workspace_objects where workspace_objects.id = workspace_values.object_id)`;

const MANAGED_BY = /* sql */ `
  case when workspace_values.object_id is not null
    then json_build_object('id', workspace_values.object_id, 'name', coalesce(${objectName}, '')) end`;

/** Select list of a value, and the conversion of its rows to records. */
export const { columns: valueColumns, toRecord: toValueRecord } = describeTable('workspace_values', valueFields, {
  managed_by: MANAGED_BY,
});

/** Selects values of these ids and values of these names. */
interface ValueNames {
  readonly ids?: Iterable<string>;
  readonly names?: Iterable<string>;
}

/** The part of a value that rules use. */
export type BoundValue = Pick<ValueRecord, 'id' | 'name' | 'type' | 'content'>;

/**
 * Purpose of the values. `refer` prevents their deletion until the transaction ends; `change` also prevents changes, and locks them in the
 * order of their names, so that two writers wait instead of deadlocking.
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

/** The visible values, including archived ones, by name. */
export const findValues = async (
  transaction: Transaction,
  { ids = [], names = [] }: ValueNames,
  purpose: ValuePurpose = 'refer',
): Promise<readonly ValueRecord[]> => {
  const bindings = { ids: [...ids].filter(isUuid), names: [...names] };
  if (bindings.ids.length + bindings.names.length === 0) return [];
  return (await query<DescribedRow>(transaction, `${FIND} ${LOCKS[purpose]}`, bindings)).map(toValueRecord);
};

/** Values to which a rule of the workspace already refers, regardless of groups: everyone who may change the rule may keep its references. */
export const findBoundValues = async (
  transaction: Transaction,
  ids: Iterable<string>,
): Promise<readonly BoundValue[]> => {
  const wanted = [...ids].filter(isUuid);
  if (wanted.length === 0) return [];
  return resolveReferences(transaction, await query<BoundValue>(transaction, FIND_BOUND, { ids: wanted }), 'rules');
};

/** Filters for values; all given filters must hold. */
interface ValueFilters {
  /** Exact name. */
  readonly name?: string | undefined;
  /** Start of the name. */
  readonly prefix?: string | undefined;
  readonly type?: ValueType | undefined;
  readonly userGroup?: string | undefined;
  /** Whether archived values are listed too; default: false. */
  readonly withArchived?: boolean | undefined;
}

interface ValueList {
  readonly values: readonly ValueRecord[];
  /** Null on the last page, and if no page was requested. */
  readonly nextCursor: string | null;
}

/** The visible values that pass the filters, newest first: all of them, or one page. Throws `invalid_request` for a bad cursor. */
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
  const rows = await query<DescribedRow>(
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
