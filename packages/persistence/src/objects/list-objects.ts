import { query, type Transaction } from '../connection/query';
import { type PageRequest } from '../paging/page';
import { entriesToRead, startOfPage, takePage } from '../paging/take-page';
import { objectColumns, type ObjectRecord, type ObjectRow, toObjectRecord } from './object-record';

interface ObjectList {
  readonly objects: readonly ObjectRecord[];
  /** Null on the last page, and where no page was asked for. */
  readonly nextCursor: string | null;
}

/** The objects that are visible, newest first: all of them, or one page. Throws `invalid_request` for a bad cursor. */
export const listObjects = async (transaction: Transaction, page?: PageRequest): Promise<ObjectList> => {
  const start = startOfPage(page?.cursor, 'workspace_objects');
  const rows = await query<ObjectRow>(
    transaction,
    /* sql */ `
    select ${objectColumns} from workspace_objects where ${start.condition}
    order by created_at desc, id desc
    limit ${page ? ':limit' : 'all'}`,
    { ...start.bindings, limit: page ? entriesToRead(page) : null },
  );
  const objects = rows.map(toObjectRecord);
  if (page === undefined) return { objects, nextCursor: null };
  const { entries, nextCursor } = takePage(objects, page);
  return { objects: entries, nextCursor };
};
