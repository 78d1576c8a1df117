import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';

/** Fields of an object, without its content. */
export interface ObjectFields {
  readonly id: string;
  readonly name: string;
  /** Fields that were read from the content; the caller defines their shape. */
  readonly parsedFields: readonly unknown[];
}

/** Which objects are meant. */
interface ObjectNames {
  readonly ids: Iterable<string>;
  readonly names: Iterable<string>;
}

const FIND = /* sql */ `
  select id, name, parsed_fields from workspace_objects
  where id = any (cast(:ids as uuid[])) or name = any (cast(:names as text[]))
  order by name`;

/** The fields of those of these objects that are visible. */
export const findObjectFields = async (
  transaction: Transaction,
  { ids, names }: ObjectNames,
): Promise<readonly ObjectFields[]> => {
  const wanted = { ids: [...ids].filter(isUuid), names: [...names] };
  if (wanted.ids.length + wanted.names.length === 0) return [];
  const rows = await query<{ id: string; name: string; parsed_fields: unknown[] }>(transaction, FIND, wanted);
  return rows.map(({ id, name, parsed_fields: parsedFields }) => ({ id, name, parsedFields }));
};
