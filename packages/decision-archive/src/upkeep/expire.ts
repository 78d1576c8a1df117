import { type ObjectStore } from '../store/object-store';
import { holdOf, listHolds } from './holds';

interface ExpireOptions {
  readonly store: ObjectStore;
  /** Days that are kept, today included. */
  readonly retentionDays: number;
  /** Epoch ms. */
  readonly now: () => number;
}

/** What was removed. */
interface ExpiredDays {
  /** Dates of all workspaces. */
  readonly dates: readonly string[];
  readonly objects: number;
  /** Older dates that stay because a hold keeps them. */
  readonly held: readonly string[];
}

const DAY_MS = 86_400_000;

/**
 * Removes decisions of dates that are no longer kept, unless a hold keeps them. It may be repeated, and run by several processes at once.
 */
export const expireDays = async ({ store, retentionDays, now }: ExpireOptions): Promise<ExpiredDays> => {
  const oldest = new Date(now() - (retentionDays - 1) * DAY_MS).toISOString().slice(0, 10);
  const holds = await listHolds(store);
  const dates = new Set<string>();
  const held = new Set<string>();
  let objects = 0;
  // Objects are removed before compactions: without its compaction a replaced object would count again.
  for (const kind of ['decisions', 'compactions'])
    for (const workspace of await store.folders(`${kind}/`))
      for (const folder of await store.folders(`${kind}/${workspace}/`)) {
        const [, date] = /^date=(\d{4}-\d{2}-\d{2})$/.exec(folder) ?? [];
        if (date === undefined || date >= oldest) continue;
        if (holdOf(holds, date) !== undefined) {
          held.add(date);
          continue;
        }
        for await (const { key } of store.list(`${kind}/${workspace}/${folder}/`)) {
          await store.remove(key);
          if (kind === 'decisions') objects += 1;
        }
        dates.add(date);
      }
  return { dates: [...dates].sort(), objects, held: [...held].sort() };
};
