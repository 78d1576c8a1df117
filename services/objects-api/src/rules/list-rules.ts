import { type ListedRule, type ListRulesQuery } from '@decision/contracts';
import {
  type Database,
  listAssets,
  type RuleSummary,
  type Transaction,
  type WorkspaceAccess,
} from '@decision/persistence';
import { type PageQuery } from '@decision/service-kit';
import { filtersOf, findOnly, toListedFields } from '../assets/list-assets';
import { toListed } from './rule-answers';
import { findDrift } from './rule-drift';
import { findVersion } from './versions';

/**
 * The rules that pass the filters: all of them, or a page. With `version` the filters must match exactly one, which is shown as it was
 * published. Throws `rule_not_found`, `invalid_request`, `rule_not_published`, `version_not_found` or `environment_not_found`.
 */
export const listRules = (
  { database }: { readonly database: Database },
  access: WorkspaceAccess,
  { version, include, ...query }: Omit<ListRulesQuery, 'limit' | 'cursor'>,
  page: PageQuery | undefined,
): Promise<{ readonly data: ListedRule[]; readonly next_cursor: string | null }> =>
  database.inWorkspace(access, async (transaction) => {
    const filters = filtersOf(query);
    if (version !== undefined) {
      const rule = await findOnly(transaction, 'rule', filters);
      return { data: [await toListedVersion(transaction, rule, version)], next_cursor: null };
    }
    const { assets: rules, nextCursor } = await listAssets(transaction, 'rule', filters, page);
    const data = rules.map(toListed);
    if (!new Set(include?.split(',')).has('drift')) return { data, next_cursor: nextCursor };
    const drift = await findDrift(transaction, rules);
    return { data: data.map((rule) => ({ ...rule, drift: drift.get(rule.id) ?? [] })), next_cursor: nextCursor };
  });

const toListedVersion = async (transaction: Transaction, rule: RuleSummary, selector: string): Promise<ListedRule> => {
  const { version, definition: table } = await findVersion(transaction, 'rule', rule, selector);
  return {
    ...toListed(rule),
    version,
    no_conditions: table.conditions.length,
    request_schema: toListedFields(table.requestSchema),
    response_schema: toListedFields(table.responseSchema),
  };
};
