import { linksOf } from '@decision/contexts';
import { ServiceError } from '@decision/contracts';
import {
  type Database,
  dropForeignKey,
  type ForeignKeyName,
  lockForeignKey,
  lockForeignKeyHolders,
  saveForeignKey,
  type Transaction,
  type WorkspaceAccess,
  writeLinks,
} from '@decision/persistence';

/** Instances that one step links: their rows are held until its transaction ends. */
const STEP = 1_000;
/** Links that one step deletes. */
const DROP_STEP = 10_000;

/** One step of the work that a foreign key needs (C154); answers whether that was the last. */
const takeStep = async (transaction: Transaction, key: ForeignKeyName): Promise<boolean> => {
  const progress = await lockForeignKey(transaction, key);
  if (progress === undefined || progress.state === 'ready') return true;
  if (progress.state === 'dropping') return dropForeignKey(transaction, key, DROP_STEP);
  const holders = await lockForeignKeyHolders(transaction, key, { after: progress.after, limit: STEP });
  await writeLinks(
    transaction,
    key.contextId,
    holders.map(({ instanceId, value }) => ({
      ...{ instanceId, fact: key.fact },
      targetId: linksOf([key.fact], { [key.fact]: value }).get(key.fact) ?? null,
    })),
  );
  const isLast = holders.length < STEP;
  const after = holders.at(-1)?.instanceId ?? progress.after;
  await saveForeignKey(transaction, key, isLast ? { state: 'ready', after: '' } : { state: 'building', after });
  return isLast;
};

/** Steps that collided with writes, in a row, before it is left to a later attempt. */
const MOST_COLLISIONS = 5;

/** Does the work that a foreign key needs, step by step; every step is kept, so that a later request continues behind it. Throws `deadline_exceeded`. */
export const finishForeignKey = async (
  database: Database,
  access: WorkspaceAccess,
  key: ForeignKeyName,
  deadline: number,
): Promise<void> => {
  let collisions = 0;
  for (let isDone = false; !isDone;) {
    if (Date.now() >= deadline) throw tooLate(key);
    try {
      isDone = await database.inWorkspace(access, (transaction) => takeStep(transaction, key));
      collisions = 0;
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'database_unavailable') throw error;
      if ((collisions += 1) > MOST_COLLISIONS) throw error;
    }
  }
};

const tooLate = ({ fact }: ForeignKeyName): ServiceError =>
  new ServiceError(
    'deadline_exceeded',
    `The links of the fact "${fact}" are being made, and there are many instances; send the request again, and it goes on from here.`,
    { fact },
  );
