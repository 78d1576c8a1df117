import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { type ApiKeyRecord, apiKeyColumns, type ApiKeyRow, changeOfKey, toApiKeyRecord } from './api-key-record';

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

interface LockedRow extends ApiKeyRow {
  readonly user_id: string | null;
  readonly rotated_from: string | null;
  readonly expired: boolean;
}

const LOCK = /* sql */ `
  select ${apiKeyColumns}, user_id, rotated_from, coalesce(expires_at <= clock_timestamp(), false) as expired
  from api_keys where id = cast(:id as uuid) for update`;

/** Asked once the key is locked: what another rotation has committed meanwhile is seen. */
const SUCCESSORS = /* sql */ `select id from api_keys where rotated_from = cast(:id as uuid)`;

const ROLE = /* sql */ `select role from api_keys where id = cast(:id as uuid)`;

const INSERT = /* sql */ `
  insert into api_keys (selector, secret_hash, name, role, user_groups, expires_at, user_id, rotated_from)
  select :selector, decode(:secret_hash, 'hex'), name, role, user_groups, expires_at, user_id, id
  from (select name, role, user_groups, expires_at, user_id, id from api_keys where id = cast(:id as uuid)) as old
  returning ${apiKeyColumns}`;

const SHORTEN = /* sql */ `
  update api_keys set expires_at = least(expires_at, clock_timestamp() + make_interval(secs => cast(:seconds as double precision)))
  where id = cast(:id as uuid)
  returning ${apiKeyColumns}`;

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
  const [locked] = isUuid(id) ? await query<LockedRow>(transaction, LOCK, { id }) : [];
  if (locked === undefined) return { status: 'not_found' };
  if (locked.revoked_at !== null) return { status: 'not_rotatable', state: 'revoked' };
  const successors = await query(transaction, SUCCESSORS, { id });
  if (successors.length > 0) return { status: 'not_rotatable', state: 'rotated' };
  if (locked.expired) return { status: 'not_rotatable', state: 'expired' };
  const [made] = await query<ApiKeyRow>(transaction, INSERT, { id, selector, secret_hash: secretHash });
  const [shortened] = await query<ApiKeyRow>(transaction, SHORTEN, { id, seconds: overlapSeconds });
  const ended = locked.rotated_from === null ? [] : await query<{ selector: string }>(transaction, END, { id: locked.rotated_from }); // prettier-ignore
  if (made === undefined || shortened === undefined) return { status: 'not_found' };
  const key = toApiKeyRecord(made);
  await recordChange(transaction, [
    changeOfKey('rotate', toApiKeyRecord(locked), toApiKeyRecord(shortened)),
    changeOfKey('create', undefined, key),
  ]);
  return { status: 'rotated', key, ended: [locked.selector, ...ended.map((row) => row.selector)] };
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

/** The role of a key; undefined where none is visible. */
export const findKeyRole = async (transaction: Transaction, id: string): Promise<string | undefined> => {
  const [row] = isUuid(id) ? await query<{ role: string }>(transaction, ROLE, { id }) : [];
  return row?.role;
};
