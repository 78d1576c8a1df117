import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { type RuleName } from './find-rule';

/** A rule that is locked until the transaction ends. */
export interface LockedRule {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  /** The version in service. */
  readonly publishedVersionId: string | null;
}

const COLUMNS = 'id, slug, name, published_version_id as "publishedVersionId"';
const BY_ID = /* sql */ `select ${COLUMNS} from rules where id = cast(:id as uuid) for update`;
const BY_SLUG = /* sql */ `select ${COLUMNS} from rules where slug = :slug for update`;

/**
 * Locks a rule; undefined where none is visible. Whoever publishes, releases, changes or deletes a rule takes its row first, so that they
 * form a line and never a deadlock.
 */
export const lockRule = async (transaction: Transaction, name: RuleName): Promise<LockedRule | undefined> => {
  if ('slug' in name) return (await query<LockedRule>(transaction, BY_SLUG, { slug: name.slug }))[0];
  return isUuid(name.id) ? (await query<LockedRule>(transaction, BY_ID, { id: name.id }))[0] : undefined;
};
