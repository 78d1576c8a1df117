import { type ValueType } from '@decision/contracts';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { resolveReferences } from './resolve-references';
import { toValueRecord, valueColumns, type ValueRecord, type ValueRow } from './value-record';

/** Which values are wanted: those of these ids and those of these names. */
interface ValueNames {
  readonly ids?: Iterable<string>;
  readonly names?: Iterable<string>;
}

/** The part of a value that rules use. */
export interface BoundValue {
  readonly id: string;
  readonly name: string;
  readonly type: ValueType;
  readonly content: unknown;
}

/**
 * Purpose of the values. `refer` keeps them from being deleted until the transaction ends; `change` from being changed too, and takes them in the
 * order of their names, so that two writers wait for each other instead of meeting head on.
 */
type ValuePurpose = 'refer' | 'change';

const FIND = /* sql */ `
  select ${valueColumns} from workspace_values
  where id = any (cast(:ids as uuid[])) or name = any (cast(:names as text[]))
  order by name`;

const LOCKS: Readonly<Record<ValuePurpose, string>> = {
  refer: 'for key share of workspace_values',
  change: 'for update of workspace_values',
};

const FIND_BOUND = /* sql */ `select id, name, type, content from find_bound_values(cast(:ids as uuid[]))`;

/** The values that are visible, archived ones too, by name. */
export const findValues = async (
  transaction: Transaction,
  { ids = [], names = [] }: ValueNames,
  purpose: ValuePurpose = 'refer',
): Promise<readonly ValueRecord[]> => {
  const bindings = { ids: [...ids].filter(isUuid), names: [...names] };
  if (bindings.ids.length + bindings.names.length === 0) return [];
  return (await query<ValueRow>(transaction, `${FIND} ${LOCKS[purpose]}`, bindings)).map(toValueRecord);
};

/**
 * Values that a rule of the workspace refers to already, without regard to groups: whoever may change the rule may keep what it refers to.
 */
export const findBoundValues = async (
  transaction: Transaction,
  ids: Iterable<string>,
): Promise<readonly BoundValue[]> => {
  const wanted = [...ids].filter(isUuid);
  if (wanted.length === 0) return [];
  return resolveReferences(transaction, await query<BoundValue>(transaction, FIND_BOUND, { ids: wanted }), 'rules');
};
