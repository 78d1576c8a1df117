import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { findValueUses, type RuleUse } from './find-value-uses';
import { toValueRecord, valueColumns, type ValueRow } from './value-record';

export type DeleteValueOutcome =
  | { readonly status: 'deleted'; readonly name: string }
  | { readonly status: 'not_found' }
  | { readonly status: 'in_use'; readonly name: string; readonly uses: readonly RuleUse[] };

const LOCK = /* sql */ `select ${valueColumns} from workspace_values where id = cast(:id as uuid) for update`;
const DELETE = /* sql */ `delete from workspace_values where id = cast(:id as uuid)`;

/** Deletes a value that no rule uses, in its draft or in a version that was ever published. */
export const deleteValue = async (transaction: Transaction, id: string): Promise<DeleteValueOutcome> => {
  if (!isUuid(id)) return { status: 'not_found' };
  const [locked] = await query<ValueRow>(transaction, LOCK, { id });
  if (locked === undefined) return { status: 'not_found' };
  const uses = await findValueUses(transaction, [id]);
  if (uses.length > 0) return { status: 'in_use', name: locked.name, uses };
  await query(transaction, DELETE, { id });
  const { name, user_groups: userGroups } = locked;
  const before = toValueRecord(locked);
  await recordChange(transaction, { kind: 'value', action: 'delete', id, name, userGroups, before });
  return { status: 'deleted', name: locked.name };
};
