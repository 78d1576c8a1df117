import { query, type Transaction } from '../connection/query';
import { type ManagedValue } from './managed-value';

type ManagedRow = Omit<ManagedValue, 'path' | 'member' | 'archived'> & {
  readonly managed_path: string;
  readonly managed_member: string;
  readonly archived: boolean;
};

const MANAGED = 'id, name, type, content, metadata, managed_path, managed_member, archived_at is not null as archived';

/** In the order of names, as every writer of several values takes them. */
const OF_OBJECT = /* sql */ `
  select ${MANAGED} from workspace_values where object_id = cast(:object_id as uuid) order by name`;

/** Values that other objects left archived behind when they were deleted. */
const LEFT_BEHIND = /* sql */ `
  select ${MANAGED} from workspace_values
  where name = any (cast(:names as text[])) and object_id is null and managed_path is not null and archived_at is not null
  order by name`;

const TAKEN = /* sql */ `
  select taken.name, workspace_values.id
  from find_taken_value_names(cast(:names as text[])) as taken
    left join workspace_values on workspace_values.name = taken.name
  order by taken.name`;

/** Whether the values are only read, or kept from other writers until the transaction ends. */
type ManagedPurpose = 'read' | 'change';

const LOCKS: Readonly<Record<ManagedPurpose, string>> = { read: '', change: 'for update' };

/** The values of an object, archived ones too, by name. */
export const findManagedValues = async (
  transaction: Transaction,
  objectId: string,
  purpose: ManagedPurpose,
): Promise<readonly ManagedValue[]> =>
  (await query<ManagedRow>(transaction, `${OF_OBJECT} ${LOCKS[purpose]}`, { object_id: objectId })).map(toManagedValue);

/** Values of these names that deleted objects left archived, and nobody has changed since. */
export const findLeftValues = async (
  transaction: Transaction,
  names: readonly string[],
  purpose: ManagedPurpose,
): Promise<readonly ManagedValue[]> =>
  names.length === 0
    ? []
    : (await query<ManagedRow>(transaction, `${LEFT_BEHIND} ${LOCKS[purpose]}`, { names })).map(toManagedValue);

/** A name that a value has. */
export interface TakenName {
  readonly name: string;
  /** Undefined where the value is not visible. */
  readonly id: string | undefined;
}

/** Which of these names values of the workspace have, visible or not. */
export const findTakenNames = async (
  transaction: Transaction,
  names: readonly string[],
): Promise<readonly TakenName[]> =>
  names.length === 0
    ? []
    : (await query<{ name: string; id: string | null }>(transaction, TAKEN, { names })).map(({ name, id }) => ({
        name,
        id: id ?? undefined,
      }));

const toManagedValue = ({ managed_path: path, managed_member: member, ...value }: ManagedRow): ManagedValue => ({
  ...value,
  path,
  member,
});
