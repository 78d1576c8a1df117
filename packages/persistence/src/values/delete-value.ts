import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { type ManagedRefusal, refusalOf } from './managed-refusal';
import { findReferringValues, type ReferringValue } from './find-referring-values';
import { findValueUses, type RuleUse } from './find-value-uses';
import { toValueRecord, valueColumns, type ValueRow } from './value-record';
import { resolveContent } from './value-reference';

type DeleteValueOutcome =
  | {
      readonly status: 'deleted';
      readonly name: string;
      /** Lists that referred to the value, and hold its content now. */
      readonly updatedLists: readonly { readonly id: string; readonly name: string }[];
    }
  | { readonly status: 'not_found' }
  | ManagedRefusal
  | { readonly status: 'in_use'; readonly name: string; readonly uses: readonly RuleUse[] }
  /** Lists that the access may not see refer to it. */
  | { readonly status: 'referred_to'; readonly name: string; readonly hiddenLists: number };

const LOCK = /* sql */ `
  select ${valueColumns} from workspace_values where id = cast(:id as uuid) for update of workspace_values`;
const DELETE = /* sql */ `delete from workspace_values where id = cast(:id as uuid)`;

const REPLACE = /* sql */ `
  update workspace_values
  set content = cast(:content as json), refers_to = array_remove(refers_to, cast(:deleted as uuid)),
    updated_at = greatest(clock_timestamp(), updated_at + interval '1 millisecond'), updated_by = app_actor()
  where id = cast(:id as uuid)
  returning user_groups`;

/**
 * Deletes a value that no rule uses, in its draft or in a version that was ever published. In lists that refer to it, its content takes its
 * place.
 */
export const deleteValue = async (transaction: Transaction, id: string): Promise<DeleteValueOutcome> => {
  if (!isUuid(id)) return { status: 'not_found' };
  const [locked] = await query<ValueRow>(transaction, LOCK, { id });
  if (locked === undefined) return { status: 'not_found' };
  const refusal = refusalOf([locked]);
  if (refusal !== undefined) return refusal;
  const uses = await findValueUses(transaction, [id]);
  if (uses.length > 0) return { status: 'in_use', name: locked.name, uses };
  const referring = await findReferringValues(transaction, [id]);
  const hiddenLists = referring.filter(({ visible }) => visible === undefined).length;
  if (hiddenLists > 0) return { status: 'referred_to', name: locked.name, hiddenLists };
  const updatedLists = await replaceIn(transaction, referring, { id, content: locked.content });
  await query(transaction, DELETE, { id });
  const { name, user_groups: userGroups } = locked;
  const before = toValueRecord(locked);
  await recordChange(transaction, { kind: 'value', action: 'delete', id, name, userGroups, before });
  return { status: 'deleted', name: locked.name, updatedLists };
};

const replaceIn = async (
  transaction: Transaction,
  referring: readonly ReferringValue[],
  deleted: { readonly id: string; readonly content: unknown },
): Promise<readonly { readonly id: string; readonly name: string }[]> => {
  const contentOf = new Map([[deleted.id, deleted.content]]);
  const updated: { readonly id: string; readonly name: string }[] = [];
  for (const { id, visible } of referring) {
    if (visible === undefined) continue;
    const content = JSON.stringify(resolveContent(visible.content, contentOf));
    const [list] = await query<{ user_groups: string[] }>(transaction, REPLACE, { id, content, deleted: deleted.id });
    const change = {
      kind: 'value',
      action: 'update',
      id,
      name: visible.name,
      userGroups: list?.user_groups ?? [],
    } as const;
    const [before, after] = [visible.content, JSON.parse(content) as unknown];
    await recordChange(transaction, { ...change, before: { content: before }, after: { content: after } });
    updated.push({ id, name: visible.name });
  }
  return updated;
};
