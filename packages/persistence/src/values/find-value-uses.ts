import { query, type Transaction } from '../connection/query';

/** That a rule uses a value, in its draft or in a version that was ever published. */
export interface RuleUse {
  readonly valueId: string;
  readonly ruleId: string;
  /** Undefined where the access may not see the rule. */
  readonly rule: UsingRule | undefined;
}

interface UsingRule {
  readonly name: string;
  readonly description: string | null;
  readonly slug: string;
  readonly published: boolean;
  /** ISO 8601 UTC with milliseconds. */
  readonly updatedAt: string;
}

interface UseRow {
  readonly value_id: string;
  readonly rule_id: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly slug: string | null;
  readonly published: boolean | null;
  readonly updated_at: Date | null;
}

/** The join is subject to row security: of hidden rules only that they exist is said. */
const USES = /* sql */ `
  select uses.value_id, uses.rule_id, rules.name, rules.description, rules.slug,
    rules.published_version_id is not null as published, rules.updated_at
  from find_value_uses(cast(:ids as uuid[])) as uses left join rules on rules.id = uses.rule_id
  order by rules.slug nulls last, uses.rule_id`;

/** Every use of these values. */
export const findValueUses = async (transaction: Transaction, ids: readonly string[]): Promise<readonly RuleUse[]> =>
  ids.length === 0 ? [] : (await query<UseRow>(transaction, USES, { ids })).map(toUse);

const toUse = ({ value_id, rule_id, name, slug, description, published, updated_at }: UseRow): RuleUse => ({
  valueId: value_id,
  ruleId: rule_id,
  rule:
    name === null || slug === null || updated_at === null
      ? undefined
      : { name, slug, description, published: published === true, updatedAt: updated_at.toISOString() },
});
