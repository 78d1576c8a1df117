import { type ValueType } from '@decision/contracts';
import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import { writeUnlessTaken } from '../connection/unique-violation';
import { isUuid } from '../connection/uuid';
import { type ManagedRefusal, refusalOf } from './managed-refusal';
import { toValueRecord, valueColumns, type ValueRecord, type ValueRow } from './value-record';

/** Changes; absent parts stay as they are. */
interface ValueChanges {
  readonly name?: string | undefined;
  /** Type and content change together. */
  readonly content?:
    { readonly type: ValueType; readonly value: unknown; readonly refersTo: readonly string[] } | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly userGroups?: readonly string[] | undefined;
  readonly archived?: boolean | undefined;
}

type UpdateValueOutcome =
  | { readonly status: 'updated'; readonly value: ValueRecord }
  | { readonly status: 'not_found' }
  | ManagedRefusal
  /** Another value of the workspace has the name; it need not be visible. */
  | { readonly status: 'name_taken' };

const LOCK = /* sql */ `
  select ${valueColumns} from workspace_values where id = cast(:id as uuid) for update of workspace_values`;

const UPDATE = /* sql */ `
  update workspace_values
  set name = coalesce(:name, name), type = coalesce(:type, type), content = coalesce(cast(:content as json), content),
    metadata = coalesce(cast(:metadata as json), metadata), user_groups = coalesce(cast(:user_groups as text[]), user_groups),
    archived_at = case cast(:archived as boolean)
      when true then coalesce(archived_at, clock_timestamp()) when false then null else archived_at
    end,
    managed_path = null, managed_member = null, refers_to = coalesce(cast(:refers_to as uuid[]), refers_to),
    updated_at = greatest(clock_timestamp(), updated_at + interval '1 millisecond'), updated_by = app_actor()
  where id = cast(:id as uuid)
  returning ${valueColumns}`;

/** Changes one value. Throws `forbidden` where a restricted access names groups that it does not have, or none. */
export const updateValue = async (
  transaction: Transaction,
  id: string,
  { name, content, metadata, userGroups, archived }: ValueChanges,
): Promise<UpdateValueOutcome> => {
  if (!isUuid(id)) return { status: 'not_found' };
  const [locked] = await query<ValueRow>(transaction, LOCK, { id });
  if (locked === undefined) return { status: 'not_found' };
  const refusal = refusalOf([locked]);
  if (refusal !== undefined) return refusal;
  const writing = await writeUnlessTaken(transaction, (savepoint) =>
    query<ValueRow>(savepoint, UPDATE, {
      id,
      name: name ?? null,
      type: content?.type ?? null,
      content: content === undefined ? null : JSON.stringify(content.value),
      refers_to: content?.refersTo ?? null,
      metadata: metadata === undefined ? null : JSON.stringify(metadata),
      user_groups: userGroups ?? null,
      archived: archived ?? null,
    }),
  );
  if (writing.status === 'taken') return { status: 'name_taken' };
  const [row] = writing.value;
  if (row === undefined) return { status: 'not_found' };
  const value = toValueRecord(row);
  await recordChange(transaction, {
    ...{ kind: 'value', action: 'update', id, name: value.name, userGroups: value.userGroups },
    before: toValueRecord(locked),
    after: value,
  });
  return { status: 'updated', value };
};
