import { type ValueType } from '@decision/contracts';
import { query, type Transaction } from '../connection/query';
import { type PageRequest } from '../paging/page';
import { entriesToRead, startOfPage, takePage } from '../paging/take-page';
import { toValueRecord, valueColumns, type ValueRecord, type ValueRow } from './value-record';

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
