import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { objectColumns, type ObjectRecord, type ObjectRow, toObjectRecord } from './object-record';

/** One object by its id or its exact name. */
export type ObjectName = { readonly id: string } | { readonly name: string };

const BY_ID = /* sql */ `select ${objectColumns} from workspace_objects where id = cast(:id as uuid)`;
const BY_NAME = /* sql */ `select ${objectColumns} from workspace_objects where name = :name`;

/** The object, undefined where it does not exist or is not visible. */
export const findObject = async (transaction: Transaction, object: ObjectName): Promise<ObjectRecord | undefined> => {
  if ('id' in object && !isUuid(object.id)) return undefined;
  const [row] = await ('id' in object
    ? query<ObjectRow>(transaction, BY_ID, { id: object.id })
    : query<ObjectRow>(transaction, BY_NAME, { name: object.name }));
  return row && toObjectRecord(row);
};
