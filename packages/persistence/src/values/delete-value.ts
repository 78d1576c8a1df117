import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { lockColumns, type LockedValue, type ManagedRefusal, refusalOf } from './managed-refusal';
import { findValueUses, type RuleUse } from './find-value-uses';

export type DeleteValueOutcome =
  | { readonly status: 'deleted'; readonly name: string }
  | { readonly status: 'not_found' }
  | ManagedRefusal
  | { readonly status: 'in_use'; readonly name: string; readonly uses: readonly RuleUse[] };

const LOCK = /* sql */ `
  select ${lockColumns} from workspace_values where id = cast(:id as uuid) for update of workspace_values`;
const DELETE = /* sql */ `delete from workspace_values where id = cast(:id as uuid)`;

/** Deletes a value that no rule uses, in its draft or in a version that was ever published. */
export const deleteValue = async (transaction: Transaction, id: string): Promise<DeleteValueOutcome> => {
  if (!isUuid(id)) return { status: 'not_found' };
  const [locked] = await query<LockedValue>(transaction, LOCK, { id });
  if (locked === undefined) return { status: 'not_found' };
  const refusal = refusalOf([locked]);
  if (refusal !== undefined) return refusal;
  const uses = await findValueUses(transaction, [id]);
  if (uses.length > 0) return { status: 'in_use', name: locked.name, uses };
  await query(transaction, DELETE, { id });
  return { status: 'deleted', name: locked.name };
};
