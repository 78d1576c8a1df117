import { ServiceError } from '@decision/contracts';
import { recordChange } from '../audit/record-change';
import { type Database } from '../connection/database';
import { type Bindings, query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { isSameEmail } from '../people/people';

/** What a password is checked with. Moments are ISO 8601 UTC. */
interface StoredSignIn {
  readonly userId: string;
  /** As it was written first. */
  readonly email: string;
  /** As the hasher of passwords wrote it; null where the person has none. */
  readonly passwordHash: string | null;
  readonly disabledAt: string | null;
  /** Null where no second factor is asked for. As it was saved. */
  readonly totpSecret: string | null;
  /** The step of the last code that was taken. */
  readonly totpLastStep: number | null;
  /** Guesses since somebody signed in last. */
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
 * Whoever has the address in a workspace, before anything about the caller is known; undefined where nobody has, or somebody whose address merely
 * becomes the same one by folding. The only way to a hash of a password.
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
  /** The guess from which on the account is locked, 1 or more. */
  readonly lockAfter: number;
  /** For how long, seconds. */
  readonly lockSeconds: number;
}

interface Admission {
  /** Whether this guess may be checked. */
  readonly admitted: boolean;
  /** This one included. */
  readonly failedAttempts: number;
  readonly lockedUntil: string | null;
}

const ADMIT = /* sql */ `
  select admitted, failed_attempts, locked_until
  from admit_sign_in(cast(:id as uuid), cast(:lock_after as integer), make_interval(secs => cast(:lock_seconds as double precision)))`;

/**
 * Counts a guess before it is checked, in a transaction that commits before the check: of guesses at once all are counted. {@link noteSignIn} forgives
 * them. The guess that reaches the limit is still admitted; while the account is locked none is, and none is counted. Throws `user_not_found`.
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

/** Calls a function of the database that changes the credentials of a person and answers whether it did. Throws `user_not_found`. */
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

/** Notes that somebody signed in: guesses are forgiven, and the row of an administrator waits no longer. Throws `user_not_found`. */
export const noteSignIn = (transaction: Transaction, userId: string): Promise<void> =>
  requireDone(call(transaction, 'note_sign_in(cast(:id as uuid))', userId), userId);

/**
 * Gives a person another password, as the hasher writes it; guesses are forgiven and an earlier link is void. Sessions stay: who wants them ended ends
 * them in the same transaction. Throws `user_not_found`.
 */
export const setPassword = async (transaction: Transaction, userId: string, passwordHash: string): Promise<void> => {
  await requireDone(
    call(transaction, 'set_password(cast(:id as uuid), :hash)', userId, { hash: passwordHash }),
    userId,
  );
  await record(transaction, userId, 'set_password');
};

/** A link of one use, whose secret part is known by its hash alone. */
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
 * Stores a link that somebody asked for, in place of an earlier one of the purpose; false, and nothing changes, where that is younger than `pauseSeconds`
 * or the person is gone.
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

/** Both parts of a link, as its bearer shows them. */
type ShownLink = Pick<NewUserLink, 'selector' | 'tokenHash'>;

interface FoundUserLink {
  readonly workspaceId: string;
  readonly userId: string;
  readonly email: string;
  readonly purpose: string;
}

const FIND_LINK = /* sql */ `
  select workspace_id, user_id, email, purpose from find_user_link(:selector, decode(:hash, 'hex'))`;

/** Whose link it is; undefined for one that is unknown, used, replaced or expired, and of a user who is disabled. It can still be used. */
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

/** Uses a link of the workspace up: of several at once one gets it. Undefined as {@link findUserLink}. */
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

/** Offers a second factor; an earlier one counts until {@link confirmTotp}. The secret is kept as it is given, 500 characters at most. Throws `user_not_found`. */
export const setTotp = (transaction: Transaction, userId: string, secret: string): Promise<void> =>
  requireDone(call(transaction, 'set_totp(cast(:id as uuid), :secret)', userId, { secret }), userId);

/** The secret that waits for its first code, of the person on whose behalf the transaction is; undefined where none does. */
export const findPendingTotp = async (transaction: Transaction): Promise<string | undefined> => {
  const [row] = await query<{ secret: string | null }>(transaction, 'select find_pending_totp() as secret');
  return row?.secret ?? undefined;
};

/** Turns the second factor on, whose first code, of a step of time, was right. False where none waits. */
export const confirmTotp = async (transaction: Transaction, userId: string, step: number): Promise<boolean> => {
  const done = await call(transaction, 'confirm_totp(cast(:id as uuid), cast(:step as bigint))', userId, { step });
  if (done) await record(transaction, userId, 'confirm_totp');
  return done;
};

/** Takes the code of a step of time, once: false for a step that is not after the last one that was taken. */
export const takeTotpStep = (transaction: Transaction, userId: string, step: number): Promise<boolean> =>
  call(transaction, 'use_totp_step(cast(:id as uuid), cast(:step as bigint))', userId, { step });

/** Turns the second factor off, with its recovery codes. False where there is none. */
export const clearTotp = async (transaction: Transaction, userId: string): Promise<boolean> => {
  const done = await call(transaction, 'clear_totp(cast(:id as uuid))', userId);
  if (done) await record(transaction, userId, 'clear_totp');
  return done;
};

/** Recovery codes at most. */
const MAX_RECOVERY_CODES = 20;

const HASHES = `(select coalesce(array_agg(decode(hash, 'hex')), '{}') from unnest(cast(:hashes as text[])) as hash)`;

/** Replaces the recovery codes; each is known by its SHA-256, 64 hex digits, and 20 are kept at most. Throws `user_not_found`. */
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

/** Takes a recovery code, once: of several at once one gets it. */
export const takeRecoveryCode = async (transaction: Transaction, userId: string, hash: string): Promise<boolean> => {
  const done = await call(transaction, `use_recovery_code(cast(:id as uuid), decode(:hash, 'hex'))`, userId, { hash });
  if (done) await record(transaction, userId, 'use_recovery_code');
  return done;
};

/** How a person signs in, without anything that could be used to. Moments are ISO 8601 UTC. */
interface DescribedCredentials {
  readonly hasPassword: boolean;
  readonly hasTotp: boolean;
  /** Recovery codes that are left. */
  readonly recoveryCodes: number;
  readonly lockedUntil: string | null;
  readonly passwordChangedAt: string | null;
}

const DESCRIBE = /* sql */ `
  select has_password, has_totp, recovery_codes, locked_until, password_changed_at from describe_credentials(cast(:id as uuid))`;

/** Undefined where the person is not visible; the own ones are. */
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
