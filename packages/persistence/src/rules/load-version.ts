import { type RuleTable } from '@decision/contracts';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';

const LOAD = /* sql */ `select definition from rule_versions where id = cast(:id as uuid)`;

/** The immutable table of a published version; undefined where it is not visible or was deleted with its rule. */
export const loadVersion = async (transaction: Transaction, versionId: string): Promise<RuleTable | undefined> => {
  if (!isUuid(versionId)) return undefined;
  const [row] = await query<{ definition: RuleTable }>(transaction, LOAD, { id: versionId });
  return row?.definition;
};
