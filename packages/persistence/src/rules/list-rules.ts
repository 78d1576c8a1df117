import { type Bindings, query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { entriesToRead, type PageRequest, startOfPage, takePage } from '../paging/page';
import { fromRules, type RuleRow, type RuleSummary, summaryColumns, toRuleSummary } from './rule-record';

/** Which rules are wanted; all given filters must hold. */
export interface RuleFilters {
  readonly id?: string | undefined;
  readonly slug?: string | undefined;
  /** Exact name. */
  readonly name?: string | undefined;
  /** Part of the name, slug or description, in any case. */
  readonly search?: string | undefined;
  /** The rule carries all of these. */
  readonly labels?: readonly string[] | undefined;
  readonly userGroup?: string | undefined;
  /** Id or name of the folder. */
  readonly folder?: string | undefined;
}

export interface RuleList {
  readonly rules: readonly RuleSummary[];
  /** Null on the last page, and where no page was asked for. */
  readonly nextCursor: string | null;
}

/**
 * The rules that are visible and pass the filters, newest first: all of them, or one page. Throws `invalid_request` for a cursor
 * that no page has answered.
 */
export const listRules = async (
  transaction: Transaction,
  filters: RuleFilters,
  page?: PageRequest,
): Promise<RuleList> => {
  if (filters.id !== undefined && !isUuid(filters.id)) return { rules: [], nextCursor: null };
  const start = startOfPage(page?.cursor, 'rules');
  const rows = await query<RuleRow>(
    transaction,
    /* sql */ `
    select ${summaryColumns} from ${fromRules}
    where ${[start.condition, ...conditionsOf(filters)].join(' and ')}
    order by rules.created_at desc, rules.id desc
    limit ${page ? ':limit' : 'all'}`,
    { ...bindingsOf(filters), ...start.bindings, limit: page ? entriesToRead(page) : null },
  );
  const rules = rows.map(toRuleSummary);
  if (page === undefined) return { rules, nextCursor: null };
  const { entries, nextCursor } = takePage(rules, page);
  return { rules: entries, nextCursor };
};

const CONDITIONS: Readonly<Record<keyof RuleFilters, string>> = {
  id: 'rules.id = cast(:id as uuid)',
  slug: 'rules.slug = :slug',
  name: 'rules.name = :name',
  search: `concat_ws(chr(10), rules.name, rules.slug, rules.description) ilike :search`,
  labels: 'rules.labels @> cast(:labels as text[])',
  userGroup: ':user_group = any(rules.user_groups)',
  folder: `:folder in (rules.folder #>> '{}', rules.folder ->> 'id', rules.folder ->> 'name')`,
};

const conditionsOf = (filters: RuleFilters): readonly string[] =>
  (Object.keys(CONDITIONS) as (keyof RuleFilters)[]) // the keys of a Record are its type's keys
    .filter((filter) => filters[filter] !== undefined)
    .map((filter) => CONDITIONS[filter]);

const bindingsOf = ({ id, slug, name, search, labels, userGroup, folder }: RuleFilters): Bindings => ({
  id: id ?? null,
  slug: slug ?? null,
  name: name ?? null,
  search: search === undefined ? null : `%${escapePattern(search)}%`,
  labels: labels ?? null,
  user_group: userGroup ?? null,
  folder: folder ?? null,
});

/** Takes their meaning from the characters that a pattern gives one. */
const escapePattern = (text: string): string => text.replace(/[\\%_]/g, '\\$&');
