import {
  apiKeyFields,
  type ApiKeyRecord,
  type GivenOf,
  ServiceError,
  type StoredApiKey,
  toAudited,
} from '@decision/contracts';
import { type Change } from '../audit/change';
import { recordChange } from '../audit/record-change';
import { type Database } from '../connection/database';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { entriesToRead, type PageRequest, startOfPage, takePage } from '../paging/page';
import { type DescribedRow, describeTable } from '../resources/described-table';

const { columns, givenColumns, givenValues, bindGiven, toRecord } = describeTable('api_keys', apiKeyFields);

/** A change of a key for the audit. */
const changeOf = (action: string, before: ApiKeyRecord | undefined, after: ApiKeyRecord): Change => ({
  ...{ kind: 'api_key', action, id: after.id, name: after.name, userGroups: after.userGroups },
  before: before && toAudited(apiKeyFields, before),
  after: toAudited(apiKeyFields, after),
});

/** A key to be stored. Only an access without restriction may make one without groups. */
export interface NewApiKey extends GivenOf<typeof apiKeyFields> {
  /** A UUID; made where it is not given. */
  readonly id?: string;
  readonly selector: string;
  /** SHA-256 of the secret, 64 hex digits. */
  readonly secretHash: string;
  /** The user whose key it is; default nobody's. */
  readonly userId?: string;
}

type CreateApiKeyOutcome =
  | { readonly status: 'created'; readonly key: ApiKeyRecord }
  /** The workspace has no such role; these are the ones it has. */
  | { readonly status: 'unknown_role'; readonly roles: readonly string[] };

const ROLES = /* sql */ `select name from roles order by name`;

const INSERT = /* sql */ `
  insert into api_keys (id, selector, secret_hash, user_id, ${givenColumns})
  values (
    coalesce(cast(:id as uuid), gen_random_uuid()), :selector, decode(:secret_hash, 'hex'), cast(:user_id as uuid),
    ${givenValues}
  )
  on conflict do nothing
  returning ${columns}`;

/**
 * Stores a key. Throws `forbidden` where a restricted access would give away groups that it does not have, and `internal_error`
 * where chance has made an id or selector that exists; another attempt makes others.
 */
export const createApiKey = async (transaction: Transaction, key: NewApiKey): Promise<CreateApiKeyOutcome> => {
  const roles = (await query<{ name: string }>(transaction, ROLES)).map(({ name }) => name);
  if (!roles.includes(key.role)) return { status: 'unknown_role', roles };
  const [row] = await query<DescribedRow>(transaction, INSERT, {
    ...bindGiven(key),
    id: key.id ?? null,
    selector: key.selector,
    secret_hash: key.secretHash,
    user_id: key.userId ?? null,
  });
  if (row) {
    const created = toRecord(row);
    await recordChange(transaction, changeOf('create', undefined, created));
    return { status: 'created', key: created };
  }
  throw new ServiceError('internal_error', 'A key with this id or selector exists already; try again.');
};

const OF_USER = /* sql */ `select ${columns} from api_keys where user_id = cast(:user_id as uuid) order by created_at, id`;

/** Writes down in the audit that a new user has the keys that it has: the database makes one together with the row. */
export const recordKeysOfNewUser = async (transaction: Transaction, userId: string): Promise<void> => {
  const rows = await query<DescribedRow>(transaction, OF_USER, { user_id: userId });
  await recordChange(
    transaction,
    rows.map((row) => changeOf('create', undefined, toRecord(row))),
  );
};

interface ApiKeyList {
  readonly keys: readonly ApiKeyRecord[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** One page of the keys of the workspace, newest first, expired and revoked ones too. Throws `invalid_request` for a foreign cursor. */
export const listApiKeys = async (transaction: Transaction, page: PageRequest): Promise<ApiKeyList> => {
  const { condition, bindings } = startOfPage(page.cursor, 'api_keys');
  const rows = await query<DescribedRow>(
    transaction,
    /* sql */ `
    select ${columns} from api_keys
    where ${condition}
    order by created_at desc, id desc
    limit :limit`,
    { ...bindings, limit: entriesToRead(page) },
  );
  const { entries, nextCursor } = takePage(rows.map(toRecord), page);
  return { keys: entries, nextCursor };
};

const LOCK = /* sql */ `select ${columns} from api_keys where id = cast(:id as uuid) for update`;

const REVOKE = /* sql */ `
  update api_keys set revoked_at = clock_timestamp()
  where id = cast(:id as uuid)
  returning ${columns}`;

/** Revokes a key for good and answers it; a second time changes nothing. Undefined where no such key is visible. */
export const revokeApiKey = async (transaction: Transaction, id: string): Promise<ApiKeyRecord | undefined> => {
  if (!isUuid(id)) return undefined;
  const [locked] = await query<DescribedRow>(transaction, LOCK, { id });
  const before = locked && toRecord(locked);
  if (before === undefined || before.revokedAt !== null) return before;
  const [row] = await query<DescribedRow>(transaction, REVOKE, { id });
  const revoked = row && toRecord(row);
  if (revoked) await recordChange(transaction, changeOf('revoke', before, revoked));
  return revoked;
};

interface Rotation {
  /** Public part of the new key. */
  readonly selector: string;
  /** SHA-256 of its secret, 64 hex digits. */
  readonly secretHash: string;
  /** How long the old key stays alive beside the new one, seconds, 0 or more. */
  readonly overlapSeconds: number;
}

export type RotateApiKeyOutcome =
  | {
      readonly status: 'rotated';
      readonly key: ApiKeyRecord;
      /** Selectors of keys whose life was shortened: what caches know of them is stale. */
      readonly ended: readonly string[];
    }
  | { readonly status: 'not_found' }
  | { readonly status: 'not_rotatable'; readonly state: 'revoked' | 'expired' | 'rotated' };

interface LockedRow extends DescribedRow {
  readonly rotated_from: string | null;
  readonly expired: boolean;
}

const LOCK_FOR_ROTATION = /* sql */ `
  select ${columns}, rotated_from, coalesce(expires_at <= clock_timestamp(), false) as expired
  from api_keys where id = cast(:id as uuid) for update`;

/** Asked once the key is locked: what another rotation has committed meanwhile is seen. */
const SUCCESSORS = /* sql */ `select id from api_keys where rotated_from = cast(:id as uuid)`;

const KEPT = Object.entries(apiKeyFields)
  .filter(([, field]) => field.keptByRotation)
  .map(([column]) => column)
  .concat('user_id')
  .join(', ');

const INSERT_SUCCESSOR = /* sql */ `
  insert into api_keys (selector, secret_hash, rotated_from, ${KEPT})
  select :selector, decode(:secret_hash, 'hex'), id, ${KEPT}
  from (select id, ${KEPT} from api_keys where id = cast(:id as uuid)) as old
  returning ${columns}`;

const SHORTEN = /* sql */ `
  update api_keys set expires_at = least(expires_at, clock_timestamp() + make_interval(secs => cast(:seconds as double precision)))
  where id = cast(:id as uuid)
  returning ${columns}`;

const END = /* sql */ `
  update api_keys set revoked_at = clock_timestamp()
  where id = cast(:id as uuid) and revoked_at is null and (expires_at is null or expires_at > clock_timestamp())
  returning selector`;

/**
 * Makes the successor of a key, with its name, role, groups, user and expiry. Both are alive for the overlap; a predecessor that is
 * still alive from an earlier rotation is revoked, so that never more than two are. A key is rotated once.
 */
export const rotateApiKey = async (
  transaction: Transaction,
  id: string,
  { selector, secretHash, overlapSeconds }: Rotation,
): Promise<RotateApiKeyOutcome> => {
  const [locked] = isUuid(id) ? await query<LockedRow>(transaction, LOCK_FOR_ROTATION, { id }) : [];
  if (locked === undefined) return { status: 'not_found' };
  const before = toRecord(locked);
  if (before.revokedAt !== null) return { status: 'not_rotatable', state: 'revoked' };
  const successors = await query(transaction, SUCCESSORS, { id });
  if (successors.length > 0) return { status: 'not_rotatable', state: 'rotated' };
  if (locked.expired) return { status: 'not_rotatable', state: 'expired' };
  const [made] = await query<DescribedRow>(transaction, INSERT_SUCCESSOR, { id, selector, secret_hash: secretHash });
  const [shortened] = await query<DescribedRow>(transaction, SHORTEN, { id, seconds: overlapSeconds });
  const ended = locked.rotated_from === null ? [] : await query<{ selector: string }>(transaction, END, { id: locked.rotated_from }); // prettier-ignore
  if (made === undefined || shortened === undefined) return { status: 'not_found' };
  const key = toRecord(made);
  await recordChange(transaction, [
    changeOf('rotate', before, toRecord(shortened)),
    changeOf('create', undefined, key),
  ]);
  return { status: 'rotated', key, ended: [before.selector, ...ended.map((row) => row.selector)] };
};

const PREDECESSORS = /* sql */ `
  with recursive lineage as (
    select id, rotated_from from api_keys where id = cast(:id as uuid)
    union
    select api_keys.id, api_keys.rotated_from from api_keys join lineage on api_keys.id = lineage.rotated_from
  )
  select id from lineage where id <> cast(:id as uuid)`;

/** The keys whose place this one has taken, however many rotations ago: what names one of them means this one too. */
export const findPredecessors = async (transaction: Transaction, id: string): Promise<readonly string[]> =>
  isUuid(id) ? (await query<{ id: string }>(transaction, PREDECESSORS, { id })).map((row) => row.id) : [];

/** Rows are rewritten at most once a minute, however often a key is used. */
const RECORD = /* sql */ `
  update api_keys set last_used_at = clock_timestamp()
  where id = cast(:id as uuid) and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute')`;

/** Notes that a key was used now, to the minute. */
export const recordKeyUse = async (transaction: Transaction, id: string): Promise<void> => {
  if (isUuid(id)) await query(transaction, RECORD, { id });
};

const ROLE = /* sql */ `select role from api_keys where id = cast(:id as uuid)`;

/** The role of a key; undefined where none is visible. */
export const findKeyRole = async (transaction: Transaction, id: string): Promise<string | undefined> => {
  const [row] = isUuid(id) ? await query<{ role: string }>(transaction, ROLE, { id }) : [];
  return row?.role;
};

interface FoundKeyRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly selector: string;
  readonly secret_hash: string;
  readonly role: string;
  readonly entitlements: string[];
  readonly user_groups: string[];
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
}

const FIND = /* sql */ `
  select id, workspace_id, selector, encode(secret_hash, 'hex') as secret_hash, role, entitlements, user_groups, expires_at, revoked_at
  from find_api_key(:selector)`;

/**
 * Looks up the key behind a selector, before anything about the caller is known. The caller still has to compare the hash, the
 * expiry and the revocation: keys that are expired or revoked are found too.
 */
export const findApiKey = async (
  database: Pick<Database, 'lookUp'>,
  selector: string,
): Promise<StoredApiKey | undefined> => {
  const [row] = await database.lookUp<FoundKeyRow>(FIND, { selector });
  return row && toStoredApiKey(row);
};

const toStoredApiKey = (row: FoundKeyRow): StoredApiKey => ({
  id: row.id,
  workspaceId: row.workspace_id,
  selector: row.selector,
  secretHash: row.secret_hash,
  role: row.role,
  entitlements: row.entitlements,
  userGroups: row.user_groups,
  expiresAt: row.expires_at?.toISOString() ?? null,
  revokedAt: row.revoked_at?.toISOString() ?? null,
});
