import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { objectColumns, type ObjectRecord, type ObjectRow, toObjectRecord } from './object-record';

/** One object by its id or its exact name. */
type ObjectName = { readonly id: string } | { readonly name: string };

const BY_ID = /* sql */ `select ${objectColumns} from workspace_objects where id = cast(:id as uuid)`;
const BY_NAME = /* sql */ `select ${objectColumns} from workspace_objects where name = :name`;

/** Whether the object is only read, or kept from other writers until the transaction ends. */
type ObjectPurpose = 'read' | 'change';

const LOCKS: Readonly<Record<ObjectPurpose, string>> = { read: '', change: 'for update' };

/**
 * The object, undefined where it does not exist or is not visible. A caller that writes what it does not change back as it was found must
 * find it for `change`: otherwise it undoes what another writer commits in between.
 */
export const findObject = async (
  transaction: Transaction,
  object: ObjectName,
  purpose: ObjectPurpose = 'read',
): Promise<ObjectRecord | undefined> => {
  if ('id' in object && !isUuid(object.id)) return undefined;
  const [row] = await ('id' in object
    ? query<ObjectRow>(transaction, `${BY_ID} ${LOCKS[purpose]}`, { id: object.id })
    : query<ObjectRow>(transaction, `${BY_NAME} ${LOCKS[purpose]}`, { name: object.name }));
  return row && toObjectRecord(row);
};
