import { ListedRule, RuleDocument, toShown } from '@decision/contracts';
import { type RuleRecord, type RuleSummary } from '@decision/persistence';
import { listedMembers, toListedFields } from '../assets/list-assets';

/** A stored rule as its export shows it. */
export const toDocument = (rule: RuleRecord): RuleDocument =>
  toShown(RuleDocument, { ...rule, published: rule.publishedVersion !== null, version: rule.publishedVersion });

/** A stored rule as lists show it: without rows, in snake case. */
export const toListed = (rule: RuleSummary): ListedRule =>
  toShown(ListedRule, {
    ...listedMembers(rule),
    noConditions: rule.rowCount,
    responseSchema: toListedFields(rule.responseSchema),
  });
