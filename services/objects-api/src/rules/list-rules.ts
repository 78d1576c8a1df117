import { type ListedRule } from '@decision/contracts';
import { type Database, listRules, type RuleFilters, type WorkspaceAccess } from '@decision/persistence';
import { type PageQuery } from '../routes/page-query';
import { toListed } from './rule-answers';
import { findDrift } from './rule-drift';

export interface ListRulesOptions {
  readonly filters: RuleFilters;
  readonly page: PageQuery | undefined;
  /** What is told beside the rules: `drift`. */
  readonly included: ReadonlySet<string>;
}

export interface ListedRules {
  readonly data: ListedRule[];
  readonly next_cursor: string | null;
}

/** The rules that the access sees, and of each what else is asked for. */
export const listRulesWith = (
  { database }: { readonly database: Database },
  access: WorkspaceAccess,
  { filters, page, included }: ListRulesOptions,
): Promise<ListedRules> =>
  database.inWorkspace(access, async (transaction) => {
    const { rules, nextCursor } = await listRules(transaction, filters, page);
    const data = rules.map(toListed);
    if (!included.has('drift')) return { data, next_cursor: nextCursor };
    const drift = await findDrift(transaction, rules);
    return { data: data.map((rule) => ({ ...rule, drift: drift.get(rule.id) ?? [] })), next_cursor: nextCursor };
  });
