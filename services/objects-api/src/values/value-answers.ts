import { type ListedValue, type RuleUsage } from '@decision/contracts';
import { type RuleUse, type ValueRecord } from '@decision/persistence';

/** A value as lists show it. */
export const toListedValue = (value: ValueRecord): ListedValue => ({
  id: value.id,
  name: value.name,
  type: value.type,
  value: value.content,
  user_groups: [...value.userGroups],
  metadata: value.metadata,
  archived_at: value.archivedAt,
  managed_by: value.managedBy,
  created_at: value.createdAt,
  updated_at: value.updatedAt,
});

/** The rules of uses, as far as the caller may see them. */
export const toUsages = (uses: readonly RuleUse[]): RuleUsage[] =>
  uses.flatMap(({ ruleId, rule }) =>
    rule === undefined
      ? []
      : [
          {
            id: ruleId,
            name: rule.name,
            description: rule.description,
            slug: rule.slug,
            published: rule.published,
            updated_at: rule.updatedAt,
          },
        ],
  );
