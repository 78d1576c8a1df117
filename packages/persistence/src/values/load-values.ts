import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { type BoundValue } from './values';
import { resolveContent } from './value-references';

/** A value with the groups that may see it. */
interface LoadedValue extends BoundValue {
  /** The groups of the value, and those of each value that it contains as a member: an access that sees them all sees the whole content. */
  readonly audiences: readonly (readonly string[])[];
}

/** Values at a revision. */
export interface LoadedValues {
  /** Increases with each change of the workspace's values; 0 before the first. */
  readonly revision: number;
  readonly values: readonly LoadedValue[];
}

const REVISION = /* sql */ `select revision from value_revisions`;

/** One statement, so that values, the values they refer to and the revision are of the same moment. */
const LOAD = /* sql */ `
  select coalesce((select revision from value_revisions), 0) as revision,
    coalesce(
      (select json_agg(json_build_object('id', id, 'name', name, 'type', type, 'content', content, 'groups', user_groups, 'members', refers_to))
       from workspace_values
       where id = any (cast(:ids as uuid[]))
         or id in (select unnest(refers_to) from workspace_values where id = any (cast(:ids as uuid[])))),
      '[]'
    ) as loaded`;

interface LoadedRow extends BoundValue {
  readonly groups: readonly string[];
  /** Ids of the values that the content contains. */
  readonly members: readonly string[];
}

/** Number of changes of the values of the workspace. */
export const findValueRevision = async (transaction: Transaction): Promise<number> =>
  Number((await query<{ revision: string }>(transaction, REVISION))[0]?.revision ?? 0);

/** The visible values of these ids, including archived ones, with the revision at which they were read. Their references are resolved. */
export const loadValues = async (transaction: Transaction, ids: Iterable<string>): Promise<LoadedValues> => {
  const wanted = new Set([...ids].filter(isUuid));
  const [row] = await query<{ revision: string; loaded: LoadedRow[] }>(transaction, LOAD, { ids: [...wanted] });
  const loaded = row?.loaded ?? [];
  const contentOf = new Map(loaded.map(({ id, content }) => [id, content]));
  const groupsOf = new Map(loaded.map(({ id, groups }) => [id, groups]));
  const values = loaded
    .filter(({ id }) => wanted.has(id))
    .map(({ groups, members, content, ...value }) => ({
      ...value,
      content: resolveContent(content, contentOf),
      audiences: [groups, ...members.map((id) => groupsOf.get(id) ?? [])],
    }));
  return { revision: Number(row?.revision ?? 0), values };
};
