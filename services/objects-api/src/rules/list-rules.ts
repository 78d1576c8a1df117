import { type PageQuery } from '@decision/service-kit';
import { type ListedRule, type ListRulesQuery, ServiceError } from '@decision/contracts';
import {
  type Database,
  listAssets,
  type AssetFilters,
  type RuleSummary,
  type Transaction,
  type WorkspaceAccess,
} from '@decision/persistence';
import { findVersion } from './versions';
import { toListed, toListedFields } from './rule-answers';
import { findDrift } from './rule-drift';

/**
 * The rules that pass the filters: all of them, or a page. With `version` the filters must match exactly one, which is shown as it was
 * published. Throws `rule_not_found`, `invalid_request`, `rule_not_published`, `version_not_found` or `environment_not_found`.
 */
export const listRules = (
  { database }: { readonly database: Database },
  access: WorkspaceAccess,
  {
    version,
    include,
    labels,
    user_group: userGroup,
    id,
    slug,
    name,
    search,
    folder,
  }: Omit<ListRulesQuery, 'limit' | 'cursor'>,
  page: PageQuery | undefined,
): Promise<{ readonly data: ListedRule[]; readonly next_cursor: string | null }> =>
  database.inWorkspace(access, async (transaction) => {
    const filters = { id, slug, name, search, folder, userGroup, labels: labels && readLabels(labels) };
    if (version !== undefined) {
      const rule = await findOnly(transaction, filters);
      return { data: [await toListedVersion(transaction, rule, version)], next_cursor: null };
    }
    const { assets: rules, nextCursor } = await listAssets(transaction, 'rule', filters, page);
    const data = rules.map(toListed);
    if (!new Set(include?.split(',')).has('drift')) return { data, next_cursor: nextCursor };
    const drift = await findDrift(transaction, rules);
    return { data: data.map((rule) => ({ ...rule, drift: drift.get(rule.id) ?? [] })), next_cursor: nextCursor };
  });

/** Labels that are separated by commas, given in separate parameters, or both. */
const readLabels = (labels: readonly string[]): readonly string[] =>
  labels
    .flatMap((text) => text.split(','))
    .map((label) => label.trim())
    .filter((label) => label !== '');

const findOnly = async (transaction: Transaction, filters: AssetFilters): Promise<RuleSummary> => {
  const { assets: rules } = await listAssets(transaction, 'rule', filters, { limit: 2 });
  const [rule] = rules;
  if (rule === undefined) throw new ServiceError('rule_not_found', 'No rule that this key sees passes the filters.');
  if (rules.length === 1) return rule;
  const message = 'needs filters that match exactly one rule; several match';
  throw new ServiceError('invalid_request', `The parameter "version" ${message}.`, {
    problems: [{ in: 'query', path: '/version', message }],
  });
};

const toListedVersion = async (transaction: Transaction, rule: RuleSummary, selector: string): Promise<ListedRule> => {
  const { version, definition: table } = await findVersion(transaction, rule, selector);
  return {
    ...toListed(rule),
    version,
    no_conditions: table.conditions.length,
    request_schema: toListedFields(table.requestSchema),
    response_schema: toListedFields(table.responseSchema),
  };
};
