import { query, type Transaction } from '../connection/query';

/** That the draft of a rule uses a value that its object generates no longer. */
export interface ArchivedUse {
  readonly ruleId: string;
  readonly valueId: string;
  readonly name: string;
  /** Undefined where the object was deleted. */
  readonly object: { readonly id: string; readonly name: string } | undefined;
}

interface ArchivedUseRow {
  readonly rule_id: string;
  readonly value_id: string;
  readonly name: string;
  readonly object_id: string | null;
  readonly object_name: string | null;
}

const FIND = /* sql */ `
  select rules.id as rule_id, workspace_values.id as value_id, workspace_values.name,
    workspace_objects.id as object_id, workspace_objects.name as object_name
  from rules
    join workspace_values on workspace_values.id = any (rules.value_ids)
    left join workspace_objects on workspace_objects.id = workspace_values.object_id
  where rules.id = any (cast(:rule_ids as uuid[]))
    and workspace_values.archived_at is not null and workspace_values.managed_path is not null
  order by workspace_values.name`;

/** Archived values of objects that drafts of these rules use, as far as the access sees rules and values. */
export const findArchivedUses = async (
  transaction: Transaction,
  ruleIds: readonly string[],
): Promise<readonly ArchivedUse[]> =>
  ruleIds.length === 0
    ? []
    : (await query<ArchivedUseRow>(transaction, FIND, { rule_ids: ruleIds })).map(
        ({ rule_id, value_id, name, object_id, object_name }) => ({
          ruleId: rule_id,
          valueId: value_id,
          name,
          object: object_id === null ? undefined : { id: object_id, name: object_name ?? '' },
        }),
      );
