import { countNames } from '../../audit/count-names';
import { recordChange } from '../../audit/record-change';
import { type Transaction } from '../../connection/query';

type Named = readonly { readonly name: string }[];

/** Changes of one request of a synchronisation. */
interface SyncChange {
  readonly collection: string;
  /** Null for a request that is the whole collection. */
  readonly syncId: string | null;
  /** Groups of the members that it made. */
  readonly userGroups: readonly string[];
  readonly created: Named;
  readonly updated: Named;
  readonly archived: Named;
  readonly deleted: Named;
}

/** Records a request of a synchronisation as one change with counts and the first names, however many members it has; none for no change. */
export const recordSync = async (
  transaction: Transaction,
  { collection, syncId, userGroups, created, updated, archived, deleted }: SyncChange,
): Promise<void> => {
  if (created.length + updated.length + archived.length + deleted.length === 0) return;
  await recordChange(transaction, {
    ...{ kind: 'value', action: 'sync', id: collection, name: collection, userGroups },
    after: {
      syncId,
      created: countNames(created),
      updated: countNames(updated),
      archived: countNames(archived),
      deleted: countNames(deleted),
    },
  });
};
