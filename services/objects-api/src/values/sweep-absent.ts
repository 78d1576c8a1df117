import { type SyncValuesAnswer } from '@decision/contracts';
import {
  type AbsentMember,
  archiveValues,
  deleteValues,
  findAbsentMembers,
  findReferringValues,
  findValueUses,
  type PresentMembers,
  type Transaction,
} from '@decision/persistence';

/** Outcome of the members that were not sent. */
export interface Swept extends Pick<SyncValuesAnswer, 'blocked'> {
  readonly archived: readonly AbsentMember[];
  readonly deleted: readonly AbsentMember[];
}

/** Archives the members that were not sent, or deletes those that nothing uses and archives the others. The caller records it. */
export const sweepAbsent = async (
  transaction: Transaction,
  collection: string,
  present: PresentMembers,
  permanently: boolean,
): Promise<Swept> => {
  const absent = await findAbsentMembers(transaction, collection, present);
  const reasonOf = permanently ? await findReasons(transaction, absent) : () => 'It is to be archived.';
  const kept = absent.filter(({ id }) => reasonOf(id) !== undefined);
  const archived = kept.filter((member) => !member.archived);
  const deleted = absent.filter(({ id }) => reasonOf(id) === undefined);
  await archiveValues(transaction, idsOf(archived));
  await deleteValues(transaction, idsOf(deleted));
  const blocked = permanently
    ? kept.map(({ id, name }) => ({ id, name, reason: reasonOf(id) ?? '', action: 'archived' as const }))
    : [];
  return { archived, deleted, blocked };
};

/** Why a member cannot be deleted, undefined if it can. A list that is deleted too is not a reason. */
const findReasons = async (
  transaction: Transaction,
  absent: readonly AbsentMember[],
): Promise<(id: string) => string | undefined> => {
  const ids = idsOf(absent);
  const used = new Set((await findValueUses(transaction, ids)).map(({ valueId }) => valueId));
  const going = new Set(ids.filter((id) => !used.has(id)));
  const staying = (await findReferringValues(transaction, ids)).filter(({ id }) => !going.has(id));
  const referredTo = new Set(staying.flatMap(({ refersTo }) => refersTo));
  return (id) => {
    if (used.has(id)) return 'Rules use it.';
    return referredTo.has(id) ? 'Lists refer to it.' : undefined;
  };
};

const idsOf = (members: readonly AbsentMember[]): readonly string[] => members.map(({ id }) => id);
