import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { type ReleaseRecord } from './release-record';
import { type ReleaseRow, selectReleases, toReleaseRecord } from './release-row';

const FIND = /* sql */ `${selectReleases} where releases.id = cast(:id as uuid)`;

/** Whoever changes releases of a rule takes the row of the rule first, as those do who publish it: they form a line. */
const LOCK = /* sql */ `
  select rules.id from rules where rules.id = (select rule_id from releases where id = cast(:id as uuid)) for update`;

const OPEN = /* sql */ `
  ${selectReleases}
  where releases.rule_id = cast(:rule_id as uuid) and releases.state in ('pending', 'live')
  order by environments.level, environments.slug, releases.state`;

/** A release; undefined where none is visible. */
export const findRelease = async (transaction: Transaction, id: string): Promise<ReleaseRecord | undefined> => {
  const [row] = isUuid(id) ? await query<ReleaseRow>(transaction, FIND, { id }) : [];
  return row && toReleaseRecord(row);
};

/** A release whose rule stays locked until the transaction ends, so that what is read here stays true. */
export const findReleaseForChange = async (
  transaction: Transaction,
  id: string,
): Promise<ReleaseRecord | undefined> => {
  const [locked] = isUuid(id) ? await query(transaction, LOCK, { id }) : [];
  return locked === undefined ? undefined : findRelease(transaction, id);
};

/** The releases of a rule that wait or are live, from the lowest level up. */
export const findOpenReleases = async (transaction: Transaction, ruleId: string): Promise<readonly ReleaseRecord[]> =>
  isUuid(ruleId) ? (await query<ReleaseRow>(transaction, OPEN, { rule_id: ruleId })).map(toReleaseRecord) : [];

const ROLLBACK = /* sql */ `
  ${selectReleases} where releases.source = 'rollback' and releases.source_release_id = cast(:id as uuid)`;

/** The release that took the place of one that was rolled back. */
export const findRollback = async (transaction: Transaction, id: string): Promise<ReleaseRecord | undefined> => {
  const [row] = isUuid(id) ? await query<ReleaseRow>(transaction, ROLLBACK, { id }) : [];
  return row && toReleaseRecord(row);
};
