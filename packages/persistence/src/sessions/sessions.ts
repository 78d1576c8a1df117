import { ServiceError } from '@decision/contracts';
import { recordChange } from '../audit/record-change';
import { type Database } from '../connection/database';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { entriesToRead, type PageRequest, startOfPage, takePage } from '../paging/page';
import { cut } from './sign-ins';

/** The sign-in method. */
type SessionMethod = 'passthrough' | 'password' | 'oidc';

/** A session with its person, both in their current state. Moments are ISO 8601 UTC. */
export interface StoredSession {
  readonly sessionId: string;
  readonly userId: string;
  readonly workspaceId: string;
  readonly email: string;
  readonly name: string | null;
  readonly role: string;
  readonly entitlements: readonly string[];
  /** Empty: the person sees nothing, unless `allGroups`. */
  readonly userGroups: readonly string[];
  readonly allGroups: boolean;
  readonly expiresAt: string;
  readonly revokedAt: string | null;
  /** Since when the person is disabled. */
  readonly disabledAt: string | null;
  readonly method: SessionMethod;
}

interface FoundSessionRow {
  readonly id: string;
  readonly user_id: string;
  readonly workspace_id: string;
  readonly email: string;
  readonly name: string | null;
  readonly role: string;
  readonly entitlements: string[];
  readonly user_groups: string[];
  readonly all_groups: boolean;
  readonly expires_at: Date;
  readonly revoked_at: Date | null;
  readonly disabled_at: Date | null;
  readonly method: SessionMethod;
}

const FIND = /* sql */ `
  select id, user_id, workspace_id, email, name, role, entitlements, user_groups, all_groups, expires_at, revoked_at, disabled_at, method
  from find_session(cast(:id as uuid))`;

/**
 * Looks up a session before anything about the caller is known. The caller must still check the expiry, and whether the session is revoked
 * or its person disabled: such sessions are found too. Sessions of deleted users are not.
 */
export const findSession = async (
  database: Pick<Database, 'lookUp'>,
  sessionId: string,
): Promise<StoredSession | undefined> => {
  const [row] = isUuid(sessionId) ? await database.lookUp<FoundSessionRow>(FIND, { id: sessionId }) : [];
  if (row === undefined) return undefined;
  return {
    ...{ sessionId: row.id, userId: row.user_id, workspaceId: row.workspace_id, method: row.method },
    ...{ email: row.email, name: row.name, role: row.role, entitlements: row.entitlements },
    ...{ userGroups: row.user_groups, allGroups: row.all_groups },
    expiresAt: row.expires_at.toISOString(),
    revokedAt: row.revoked_at?.toISOString() ?? null,
    disabledAt: row.disabled_at?.toISOString() ?? null,
  };
};

export interface NewSession {
  readonly userId: string;
  readonly method: SessionMethod;
  /** ISO 8601. */
  readonly expiresAt: string;
  /** Address of the client; cut after 100 characters. */
  readonly address: string | null;
  /** Cut after 500 characters. */
  readonly userAgent: string | null;
}

const INSERT = /* sql */ `
  with made as (
    insert into sessions (user_id, method, expires_at, address, user_agent)
    select id, :method, cast(:expires_at as timestamptz), :address, :user_agent
    from users where id = cast(:user_id as uuid) and disabled_at is null
    returning id, user_id
  ), counted as (
    insert into user_usage (user_id, sessions, last_session_at) select user_id, 1, clock_timestamp() from made
    on conflict (workspace_id, user_id) do update set sessions = user_usage.sessions + 1, last_session_at = excluded.last_session_at
  )
  select id from made`;

/** Each new session removes a few of those that ended a month ago. */
const FORGET = /* sql */ `
  delete from sessions where id in (
    select id from sessions
    where workspace_id = app_workspace_id() and expires_at < clock_timestamp() - interval '30 days'
    order by expires_at limit 20 for update skip locked
  )`;

/** Largest number of live sessions of a person: a client without cookies starts a new one each time. */
const MAX_LIVE = 100;

const END_OLDEST = /* sql */ `
  update sessions set revoked_at = clock_timestamp() where id in (
    select id from sessions
    where workspace_id = app_workspace_id() and user_id = cast(:user_id as uuid) and revoked_at is null and expires_at > clock_timestamp()
    order by created_at desc, id desc offset ${MAX_LIVE} limit ${MAX_LIVE} for update skip locked
  )`;

/**
 * Starts a session of a person and answers its id; beyond 100 live ones, the oldest end. Throws `invalid_session` if the person no longer
 * exists or is disabled.
 */
export const createSession = async (
  transaction: Transaction,
  { userId, method, expiresAt, address, userAgent }: NewSession,
): Promise<string> => {
  await query(transaction, FORGET);
  const [made] = isUuid(userId)
    ? await query<{ id: string }>(transaction, INSERT, {
        ...{ user_id: userId, method, expires_at: expiresAt },
        ...{ address: cut(address, 100), user_agent: cut(userAgent, 500) },
      })
    : [];
  if (made === undefined) throw new ServiceError('invalid_session', 'The user is unknown or disabled; ask an administrator.'); // prettier-ignore
  await query(transaction, END_OLDEST, { user_id: userId });
  return made.id;
};

interface EndedRow {
  readonly id: string;
  readonly user_id: string;
}

const REVOKE = /* sql */ `
  update sessions set revoked_at = clock_timestamp()
  where id = cast(:id as uuid) and revoked_at is null and user_id = coalesce(cast(:user_id as uuid), user_id)
  returning id, user_id`;
const REVOKE_ALL = /* sql */ `
  update sessions set revoked_at = clock_timestamp()
  where workspace_id = app_workspace_id() and user_id = cast(:user_id as uuid) and revoked_at is null and expires_at > clock_timestamp()
    and id is distinct from cast(:except as uuid)
  returning id, user_id`;
const EMAIL = /* sql */ `select email from users where id = cast(:user_id as uuid)`;

/** Ends a session permanently; if `userId` is given, only one of that person. Undefined if no such live session is visible. */
export const revokeSession = async (
  transaction: Transaction,
  sessionId: string,
  { userId }: { readonly userId?: string } = {},
): Promise<{ readonly userId: string } | undefined> => {
  const bindings = { id: sessionId, user_id: userId ?? null };
  const [row] = isUuid(sessionId) ? await query<EndedRow>(transaction, REVOKE, bindings) : [];
  if (row === undefined) return undefined;
  await recordEnd(transaction, 'revoke', row.user_id, 1);
  return { userId: row.user_id };
};

interface RevokeOptions {
  /** A session that stays, such as the caller's. */
  readonly except?: string | undefined;
}

/** Ends the visible live sessions of a person, and answers their ids. */
export const revokeSessionsOf = async (
  transaction: Transaction,
  userId: string,
  { except }: RevokeOptions = {},
): Promise<readonly string[]> => {
  if (!isUuid(userId)) return [];
  const kept = except !== undefined && isUuid(except) ? except : null;
  const rows = await query<EndedRow>(transaction, REVOKE_ALL, { user_id: userId, except: kept });
  if (rows.length > 0) await recordEnd(transaction, 'revoke', userId, rows.length);
  return rows.map(({ id }) => id);
};

/** The audit names a session by its person: people do not know the ids of sessions. */
const recordEnd = async (transaction: Transaction, action: string, userId: string, count: number): Promise<void> => {
  const [user] = await query<{ email: string }>(transaction, EMAIL, { user_id: userId });
  await recordChange(transaction, { kind: 'session', action, id: userId, name: user?.email ?? '', before: { sessions: count } }); // prettier-ignore
};

/** A live session as lists show it. Moments are ISO 8601 UTC. */
interface ListedSession {
  readonly id: string;
  readonly userId: string;
  readonly email: string;
  readonly method: SessionMethod;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly address: string | null;
  readonly userAgent: string | null;
}

interface ListedRow {
  readonly id: string;
  readonly user_id: string;
  readonly email: string;
  readonly method: SessionMethod;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly address: string | null;
  readonly user_agent: string | null;
}

interface SessionList {
  readonly sessions: readonly ListedSession[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** One page of the visible live sessions, of one person or of all, newest first. Throws `invalid_request` for a foreign cursor. */
export const listSessions = async (
  transaction: Transaction,
  { userId, page }: { readonly userId?: string | undefined; readonly page: PageRequest },
): Promise<SessionList> => {
  const { condition, bindings } = startOfPage(page.cursor, 'sessions');
  const ofUser = userId === undefined ? 'true' : 'sessions.user_id = cast(:user_id as uuid)';
  if (userId !== undefined && !isUuid(userId)) return { sessions: [], nextCursor: null };
  const rows = await query<ListedRow>(
    transaction,
    /* sql */ `
    select sessions.id, sessions.user_id, users.email, sessions.method, sessions.created_at, sessions.expires_at, sessions.address,
      sessions.user_agent
    from sessions join users on users.workspace_id = sessions.workspace_id and users.id = sessions.user_id
    where ${condition} and ${ofUser} and sessions.revoked_at is null and sessions.expires_at > clock_timestamp()
    order by sessions.created_at desc, sessions.id desc
    limit :limit`,
    { ...bindings, limit: entriesToRead(page), ...(userId === undefined ? {} : { user_id: userId }) },
  );
  const { entries, nextCursor } = takePage(rows.map(toListed), page);
  return { sessions: entries, nextCursor };
};

const toListed = (row: ListedRow): ListedSession => ({
  ...{ id: row.id, userId: row.user_id, email: row.email, method: row.method },
  createdAt: row.created_at.toISOString(),
  expiresAt: row.expires_at.toISOString(),
  ...{ address: row.address, userAgent: row.user_agent },
});
