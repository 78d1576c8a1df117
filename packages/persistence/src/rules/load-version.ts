import { type RuleTable } from '@decision/contracts';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';

const LOAD = /* sql */ `select definition from rule_versions where id = cast(:id as uuid)`;

const MEASURE = /* sql */ `select pg_column_size(definition) as bytes from rule_versions where id = cast(:id as uuid)`;

/** About how many bytes the table of a version takes where it is stored, compressed; undefined as {@link loadVersion}. Reads none of them. */
export const measureVersion = async (transaction: Transaction, versionId: string): Promise<number | undefined> => {
  if (!isUuid(versionId)) return undefined;
  const [row] = await query<{ bytes: number }>(transaction, MEASURE, { id: versionId });
  return row?.bytes;
};

/** The immutable table of a published version; undefined where it is not visible or was deleted with its rule. */
export const loadVersion = async (transaction: Transaction, versionId: string): Promise<RuleTable | undefined> => {
  if (!isUuid(versionId)) return undefined;
  const [row] = await query<{ definition: RuleTable }>(transaction, LOAD, { id: versionId });
  return row?.definition;
};
