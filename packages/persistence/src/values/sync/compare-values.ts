import { type ValueType } from '@decision/contracts';
import { query, type Transaction } from '../../connection/query';
import { objectName } from '../value-record';
import { GIVEN, type SavedValue, writeGiven } from '../save-values';

/** Stored value under a name that is to be written. */
export interface ComparedValue {
  readonly id: string;
  readonly name: string;
  readonly type: ValueType;
  /** Whether writing would change it. */
  readonly differs: boolean;
  /** Null where it does not differ. */
  readonly content: unknown;
  /** The object that generates it. */
  readonly objectName: string | null;
}

/** Contents are compared as text: one that only orders its keys otherwise differs. */
const COMPARE = /* sql */ `
  select workspace_values.id, workspace_values.name, workspace_values.type, differs,
    case when differs then workspace_values.content end as content,
    case when object_id is not null then coalesce(${objectName.replace(' as object_name', '')}, '') end as "objectName"
  from ${GIVEN} join workspace_values on workspace_values.name = given.name
    cross join lateral (
      select archived_at is not null or workspace_values.type <> given.type
        or cast(workspace_values.content as text) <> cast(given.content as text)
        or cast(workspace_values.metadata as text) <> coalesce(cast(given.metadata as text), cast(workspace_values.metadata as text))
        or workspace_values.user_groups <> coalesce(cast(:user_groups as text[]), workspace_values.user_groups) as differs
    ) as comparison
  order by workspace_values.name
  for update of workspace_values`;

/** The visible values of these names, by name, kept from other writers until the transaction ends. */
export const compareValues = (
  transaction: Transaction,
  values: readonly SavedValue[],
  userGroups: readonly string[] | undefined,
): Promise<readonly ComparedValue[]> =>
  values.length === 0
    ? Promise.resolve([])
    : query<ComparedValue>(transaction, COMPARE, { ...writeGiven(values), user_groups: userGroups ?? null });
