import { ServiceError } from '@decision/contracts';
import { recordChange } from '../audit/record-change';
import { type Database } from '../connection/database';
import { type Bindings, query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { isSameEmail } from '../people/people';

/** Data for checking a password. Moments are ISO 8601 UTC. */
interface StoredSignIn {
  readonly userId: string;
  /** As it was first written. */
  readonly email: string;
  /** Output of the password hasher; null if the person has no password. */
  readonly passwordHash: string | null;
  readonly disabledAt: string | null;
  /** Null if no second factor is required. In the form in which it was saved. */
  readonly totpSecret: string | null;
  /** The step of the last accepted code. */
  readonly totpLastStep: number | null;
  /** Failed guesses since the last sign-in. */
  readonly failedAttempts: number;
  readonly lockedUntil: string | null;
}

interface SignInRow {
  readonly user_id: string;
  readonly email: string;
  readonly password_hash: string | null;
  readonly disabled_at: Date | null;
  readonly totp_secret: string | null;
  readonly totp_last_step: string | null;
  readonly failed_attempts: number;
  readonly locked_until: Date | null;
}

const FIND = /* sql */ `
  select user_id, email, password_hash, disabled_at, totp_secret, totp_last_step, failed_attempts, locked_until
  from find_sign_in(cast(:workspace_id as uuid), :email)`;

/**
 * Finds the person with an address in a workspace, before anything about the caller is known; undefined if nobody has it, or if the address
 * matches only by Unicode case folding. The only access to the hash of a password.
 */
export const findSignIn = async (
  database: Pick<Database, 'lookUp'>,
  workspaceId: string,
  email: string,
): Promise<StoredSignIn | undefined> => {
  const [row] = isUuid(workspaceId) ? await database.lookUp<SignInRow>(FIND, { workspace_id: workspaceId, email }) : [];
  if (row === undefined || !isSameEmail(row.email, email)) return undefined;
  return {
    ...{ userId: row.user_id, email: row.email, passwordHash: row.password_hash, totpSecret: row.totp_secret },
    disabledAt: row.disabled_at?.toISOString() ?? null,
    totpLastStep: row.totp_last_step === null ? null : Number(row.totp_last_step),
    ...{ failedAttempts: row.failed_attempts, lockedUntil: row.locked_until?.toISOString() ?? null },
  };
};

interface LockPolicy {
  /** The number of guesses at which the account is locked, 1 or more. */
  readonly lockAfter: number;
  /** Duration of the lock, seconds. */
  readonly lockSeconds: number;
}

interface Admission {
  /** Whether this guess may be checked. */
  readonly admitted: boolean;
  /** Includes this guess. */
  readonly failedAttempts: number;
  readonly lockedUntil: string | null;
}

const ADMIT = /* sql */ `
  select admitted, failed_attempts, locked_until
  from admit_sign_in(cast(:id as uuid), cast(:lock_after as integer), make_interval(secs => cast(:lock_seconds as double precision)))`;

/**
 * Counts a guess before it is checked, in a transaction that commits before the check: concurrent guesses are all counted. {@link
 * noteSignIn} resets the count. The guess that reaches the limit is still admitted; while the account is locked, guesses are neither
 * admitted nor counted. Throws `user_not_found`.
 */
export const admitSignIn = async (
  transaction: Transaction,
  userId: string,
  { lockAfter, lockSeconds }: LockPolicy,
): Promise<Admission> => {
  const bindings = { id: userId, lock_after: lockAfter, lock_seconds: lockSeconds };
  const [row] = isUuid(userId)
    ? await query<Pick<SignInRow, 'failed_attempts' | 'locked_until'> & { admitted: boolean }>(
        transaction,
        ADMIT,
        bindings,
      )
    : [];
  if (row === undefined) throw notFound(userId);
  const { admitted, failed_attempts: failedAttempts, locked_until: lockedUntil } = row;
  return { admitted, failedAttempts, lockedUntil: lockedUntil?.toISOString() ?? null };
};

/** Calls a database function that changes the credentials of a person and answers whether it did. Throws `user_not_found`. */
const call = async (
  transaction: Transaction,
  sql: string,
  userId: string,
  bindings: Bindings = {},
): Promise<boolean> => {
  const [row] = isUuid(userId) ? await query<{ done: boolean }>(transaction, `select ${sql} as done`, { ...bindings, id: userId }) : []; // prettier-ignore
  return row?.done === true;
};

const requireDone = async (done: Promise<boolean>, userId: string): Promise<void> => {
  if (!(await done)) throw notFound(userId);
};

const notFound = (id: string): ServiceError =>
  new ServiceError('user_not_found', `No user with the id ${id} is visible.`, { id });

const EMAIL = /* sql */ `select email, user_groups from users where id = cast(:id as uuid)`;

const record = async (transaction: Transaction, userId: string, action: string): Promise<void> => {
  const [user] = await query<{ email: string; user_groups: string[] }>(transaction, EMAIL, { id: userId });
  await recordChange(transaction, { kind: 'user', action, id: userId, name: user?.email ?? '', userGroups: user?.user_groups ?? [] }); // prettier-ignore
};

/** Records a sign-in: the count of guesses is reset, and an administrator's row is no longer a placeholder. Throws `user_not_found`. */
export const noteSignIn = (transaction: Transaction, userId: string): Promise<void> =>
  requireDone(call(transaction, 'note_sign_in(cast(:id as uuid))', userId), userId);

/**
 * Sets another password of a person, as the output of the hasher; the count of guesses is reset and an earlier link is void. Sessions stay:
 * callers end them in the same transaction if necessary. Throws `user_not_found`.
 */
export const setPassword = async (transaction: Transaction, userId: string, passwordHash: string): Promise<void> => {
  await requireDone(
    call(transaction, 'set_password(cast(:id as uuid), :hash)', userId, { hash: passwordHash }),
    userId,
  );
  await record(transaction, userId, 'set_password');
};

/** A single-use link, of whose secret part only the hash is stored. */
interface NewUserLink {
  readonly userId: string;
  readonly purpose: 'reset';
  /** Public part of the link. */
  readonly selector: string;
  /** SHA-256 of its secret part, 64 hex digits. */
  readonly tokenHash: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** Stores a link in place of an earlier one of the purpose. Throws `user_not_found`. */
export const createUserLink = async (transaction: Transaction, link: NewUserLink): Promise<void> => {
  const { userId, purpose, selector, tokenHash, expiresAt } = link;
  const sql = `create_user_link(cast(:id as uuid), :purpose, :selector, decode(:hash, 'hex'), cast(:expires_at as timestamptz))`;
  await requireDone(
    call(transaction, sql, userId, { purpose, selector, hash: tokenHash, expires_at: expiresAt }),
    userId,
  );
  await record(transaction, userId, 'create_link');
};

/**
 * Stores a requested link in place of an earlier one of the purpose; false, without a change, if that one is younger than `pauseSeconds` or
 * the person no longer exists.
 */
export const offerUserLink = async (
  transaction: Transaction,
  { userId, purpose, selector, tokenHash, expiresAt }: NewUserLink,
  pauseSeconds: number,
): Promise<boolean> => {
  const sql = `offer_user_link(cast(:id as uuid), :purpose, :selector, decode(:hash, 'hex'), cast(:expires_at as timestamptz), make_interval(secs => cast(:pause as double precision)))`;
  const bindings = { purpose, selector, hash: tokenHash, expires_at: expiresAt, pause: pauseSeconds };
  const done = await call(transaction, sql, userId, bindings);
  if (done) await record(transaction, userId, 'create_link');
  return done;
};

/** Both parts of a link, as presented by its bearer. */
type ShownLink = Pick<NewUserLink, 'selector' | 'tokenHash'>;

interface FoundUserLink {
  readonly workspaceId: string;
  readonly userId: string;
  readonly email: string;
  readonly purpose: string;
}

const FIND_LINK = /* sql */ `
  select workspace_id, user_id, email, purpose from find_user_link(:selector, decode(:hash, 'hex'))`;

/** The owner of a link; undefined if the link is unknown, used, replaced or expired, or its user is disabled. The link stays usable. */
export const findUserLink = async (
  database: Pick<Database, 'lookUp'>,
  { selector, tokenHash }: ShownLink,
): Promise<FoundUserLink | undefined> => {
  const [row] = await database.lookUp<{ workspace_id: string; user_id: string; email: string; purpose: string }>(
    FIND_LINK,
    { selector, hash: tokenHash },
  );
  return row && { workspaceId: row.workspace_id, userId: row.user_id, email: row.email, purpose: row.purpose };
};

const TAKE_LINK = /* sql */ `select user_id, purpose from take_user_link(:selector, decode(:hash, 'hex'))`;

/** Uses up a link of the workspace: of several concurrent calls, one gets it. Undefined as for {@link findUserLink}. */
export const takeUserLink = async (
  transaction: Transaction,
  { selector, tokenHash }: ShownLink,
): Promise<{ readonly userId: string; readonly purpose: string } | undefined> => {
  const [row] = await query<{ user_id: string; purpose: string }>(transaction, TAKE_LINK, {
    selector,
    hash: tokenHash,
  });
  return row && { userId: row.user_id, purpose: row.purpose };
};

/**
 * Offers a second factor; an earlier one stays valid until {@link confirmTotp}. The secret is stored as given, 500 characters at most.
 * Throws `user_not_found`.
 */
export const setTotp = (transaction: Transaction, userId: string, secret: string): Promise<void> =>
  requireDone(call(transaction, 'set_totp(cast(:id as uuid), :secret)', userId, { secret }), userId);

/** The secret that waits for its first code, of the person of the transaction's access; undefined if there is none. */
export const findPendingTotp = async (transaction: Transaction): Promise<string | undefined> => {
  const [row] = await query<{ secret: string | null }>(transaction, 'select find_pending_totp() as secret');
  return row?.secret ?? undefined;
};

/** Activates the second factor after its first code, of a time step, was right. False if none waits. */
export const confirmTotp = async (transaction: Transaction, userId: string, step: number): Promise<boolean> => {
  const done = await call(transaction, 'confirm_totp(cast(:id as uuid), cast(:step as bigint))', userId, { step });
  if (done) await record(transaction, userId, 'confirm_totp');
  return done;
};

/** Accepts the code of a time step, once: false for a step that is not after the last accepted one. */
export const takeTotpStep = (transaction: Transaction, userId: string, step: number): Promise<boolean> =>
  call(transaction, 'use_totp_step(cast(:id as uuid), cast(:step as bigint))', userId, { step });

/** Deactivates the second factor, with its recovery codes. False if there is none. */
export const clearTotp = async (transaction: Transaction, userId: string): Promise<boolean> => {
  const done = await call(transaction, 'clear_totp(cast(:id as uuid))', userId);
  if (done) await record(transaction, userId, 'clear_totp');
  return done;
};

/** Largest number of recovery codes. */
const MAX_RECOVERY_CODES = 20;

const HASHES = `(select coalesce(array_agg(decode(hash, 'hex')), '{}') from unnest(cast(:hashes as text[])) as hash)`;

/** Replaces the recovery codes; only the SHA-256 of each is stored, 64 hex digits, and 20 at most. Throws `user_not_found`. */
export const saveRecoveryCodes = async (
  transaction: Transaction,
  userId: string,
  hashes: readonly string[],
): Promise<void> => {
  const kept = [...new Set(hashes)].slice(0, MAX_RECOVERY_CODES);
  await requireDone(
    call(transaction, `save_recovery_codes(cast(:id as uuid), ${HASHES})`, userId, { hashes: kept }),
    userId,
  );
  await record(transaction, userId, 'save_recovery_codes');
};

/** Accepts a recovery code, once: of several concurrent calls, one gets it. */
export const takeRecoveryCode = async (transaction: Transaction, userId: string, hash: string): Promise<boolean> => {
  const done = await call(transaction, `use_recovery_code(cast(:id as uuid), decode(:hash, 'hex'))`, userId, { hash });
  if (done) await record(transaction, userId, 'use_recovery_code');
  return done;
};

/** The sign-in methods of a person, without secrets. Moments are ISO 8601 UTC. */
interface DescribedCredentials {
  readonly hasPassword: boolean;
  readonly hasTotp: boolean;
  /** Number of unused recovery codes. */
  readonly recoveryCodes: number;
  readonly lockedUntil: string | null;
  readonly passwordChangedAt: string | null;
}

const DESCRIBE = /* sql */ `
  select has_password, has_totp, recovery_codes, locked_until, password_changed_at from describe_credentials(cast(:id as uuid))`;

/** Undefined if the person is not visible; one's own are. */
export const describeCredentials = async (
  transaction: Transaction,
  userId: string,
): Promise<DescribedCredentials | undefined> => {
  const [row] = isUuid(userId)
    ? await query<{
        has_password: boolean;
        has_totp: boolean;
        recovery_codes: number;
        locked_until: Date | null;
        password_changed_at: Date | null;
      }>(transaction, DESCRIBE, { id: userId })
    : [];
  if (row === undefined) return undefined;
  return {
    ...{ hasPassword: row.has_password, hasTotp: row.has_totp, recoveryCodes: row.recovery_codes },
    lockedUntil: row.locked_until?.toISOString() ?? null,
    passwordChangedAt: row.password_changed_at?.toISOString() ?? null,
  };
};
