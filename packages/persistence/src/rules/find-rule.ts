import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { type RuleRecord } from './rule-record';
import { fromRules, recordColumns, type RuleRow, toRuleRecord } from './rule-row';

/** Names one rule of a workspace. */
export type RuleName = { readonly id: string } | { readonly slug: string };

const BY_ID = /* sql */ `select ${recordColumns} from ${fromRules} where rules.id = cast(:id as uuid)`;
const BY_SLUG = /* sql */ `select ${recordColumns} from ${fromRules} where rules.slug = :slug`;

/** Finds a rule with its whole draft; undefined where none is visible. */
export const findRule = async (transaction: Transaction, name: RuleName): Promise<RuleRecord | undefined> => {
  if ('id' in name && !isUuid(name.id)) return undefined;
  const [row] =
    'id' in name
      ? await query<RuleRow>(transaction, BY_ID, { id: name.id })
      : await query<RuleRow>(transaction, BY_SLUG, { slug: name.slug });
  return row && toRuleRecord(row);
};
