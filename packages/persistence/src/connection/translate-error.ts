import { types } from 'node:util';
import { type ErrorCode, ServiceError } from '@decision/contracts';
import { knex } from 'knex';
import { DatabaseError } from 'pg';

/** SQLSTATE class of invalid values, whose messages quote the value. */
const DATA_EXCEPTION = '22';

/**
 * The part of a server's error that may be logged: its location, never the values that caused it. The server's own error quotes rows in its
 * detail.
 */
export class DatabaseFault extends Error {
  override readonly name = 'DatabaseFault';
  /** Five characters; see the appendix "PostgreSQL Error Codes". */
  readonly sqlState: string;
  readonly constraint: string | undefined;
  readonly table: string | undefined;

  constructor(error: DatabaseError) {
    const sqlState = error.code ?? 'XX000';
    super(sqlState.startsWith(DATA_EXCEPTION) ? `a value was refused (SQLSTATE ${sqlState})` : error.message);
    this.sqlState = sqlState;
    this.constraint = error.constraint;
    this.table = error.table;
  }
}

interface Translation {
  readonly code: ErrorCode;
  readonly message: string;
}

const unavailable = (message: string): Translation => ({ code: 'database_unavailable', message });

const UNREACHABLE = unavailable('The database cannot be reached; try again.');
const TOO_SLOW = unavailable('The database did not answer in time; try again.');
const NO_CONNECTION_FREE = unavailable('Every database connection is busy; try again.');
const CONFLICT = unavailable('The change collided with another one; try again.');
const REFUSED = unavailable(
  'The database refuses this service; an operator must check its user, password and database name, and its certificate where the server asks for one.',
);
const WITHOUT_TLS = unavailable(
  'The database speaks no TLS, which sslmode in DATABASE_URL asks for: switch it on in the server, or set sslmode=disable.',
);
const UNSTORABLE_TEXT: Translation = { code: 'invalid_request', message: 'Text must not hold the character U+0000.' };
const TOO_COMPLEX: Translation = {
  code: 'invalid_request',
  message: 'The document is nested too deeply, or too large, for the database.',
};
const FOREIGN_GROUPS: Translation = {
  code: 'forbidden',
  message:
    'An access that is restricted to user groups can add and remove only groups of its own, and leaves at least one.',
};
const NOBODY: Translation = {
  code: 'invalid_session',
  message: 'The user of this session is unknown or disabled; sign in again, or ask an administrator.',
};
const ADMIN_STAYS: Translation = {
  code: 'forbidden',
  message:
    'The administrator of the workspace keeps the role "admin" and all groups, and can be neither disabled nor deleted.',
};
const UNEXPECTED: Translation = { code: 'internal_error', message: 'The database could not do what was asked of it.' };

/** By SQLSTATE, or by its first two characters. The longer entry takes precedence. */
const BY_SQL_STATE: Readonly<Record<string, Translation>> = {
  '08': UNREACHABLE,
  '22021': UNSTORABLE_TEXT,
  '22P05': UNSTORABLE_TEXT,
  '25006': UNREACHABLE,
  '25P03': TOO_SLOW,
  '28': REFUSED,
  '3D000': REFUSED,
  '40': CONFLICT,
  '53': UNREACHABLE,
  '54': TOO_COMPLEX,
  '55P03': TOO_SLOW,
  '57014': TOO_SLOW,
  '57P': UNREACHABLE,
  '58': UNREACHABLE,
  // Raised by the functions of the migration 0034.
  SE001: NOBODY,
  SE002: ADMIN_STAYS,
};

/** Routines of the server that refuse a write because of a row-security policy, or of the trigger over user groups. */
const ROW_SECURITY_ROUTINES = new Set(['ExecWithCheckOptions', 'exec_stmt_raise']);

/** After a migration changes the result type of a prepared statement, its connection refuses the statement. */
const isOutdatedPlan = ({ code, routine }: DatabaseError): boolean =>
  code === '0A000' && routine === 'RevalidateCachedQuery';

const ofDatabaseError = (error: DatabaseError): Translation => {
  const { code = '', routine = '' } = error;
  if (code === '42501' && ROW_SECURITY_ROUTINES.has(routine)) return FOREIGN_GROUPS;
  if (isOutdatedPlan(error)) return CONFLICT;
  // An operator has disabled connections at the moment (allow_connections).
  if (code === '55000' && routine === 'CheckMyDatabase') return UNREACHABLE;
  return BY_SQL_STATE[code] ?? BY_SQL_STATE[code.slice(0, 3)] ?? BY_SQL_STATE[code.slice(0, 2)] ?? UNEXPECTED;
};

const SOCKET_CODES =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|ENOTFOUND|EAI_AGAIN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOENT)$/;

/** Node's messages for a failed TLS connection: about the certificate, or from the other side. */
const TLS_CODES =
  /^(UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|CERT_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|ERR_TLS_|ERR_SSL_|ERR_OSSL_)/;
const OTHER_HOST = 'ERR_TLS_CERT_ALTNAME_INVALID';
const EXPIRED = 'CERT_HAS_EXPIRED';
const REFUSED_BY_SERVER = /^ERR_SSL_.*ALERT/;
const NO_TLS = 'The server does not support SSL connections';

/** What an operator must change to enable the TLS connection. */
const tlsAdvice = (code: string): string => {
  if (code === OTHER_HOST) return 'its certificate is for another host: use the name that it is for in DATABASE_URL';
  if (code === EXPIRED) return 'its certificate has expired';
  if (REFUSED_BY_SERVER.test(code))
    return 'it does not accept the certificate of this service: check sslcert and sslkey in DATABASE_URL';
  return 'its certificate is not trusted: name the file of its authority as sslrootcert in DATABASE_URL, or in NODE_EXTRA_CA_CERTS';
};

/** The driver reports lost connections only by message. */
const LOST_CONNECTION = /^(Connection terminated|Client (was closed|has encountered)|timeout (expired|exceeded))/;

const READ_TIMEOUT = 'Query read timeout';

/** An error of this or another realm: errors of the platform are not always instances of this module's `Error`. */
type AnyError = Error & { readonly code?: unknown };
const isError = (value: unknown): value is AnyError => types.isNativeError(value);

const isReadTimeout = (error: AnyError): boolean => error.message.endsWith(READ_TIMEOUT);

const isLostConnection = (error: AnyError): boolean =>
  (typeof error.code === 'string' && SOCKET_CODES.test(error.code)) ||
  LOST_CONNECTION.test(withoutStatement(error.message));

/** Whether the connection of an error is lost, or may still be busy with its statement: it cannot be reused. */
export const breaksConnection = (error: unknown): boolean => {
  if (!isError(error) || error instanceof ServiceError) return false;
  if (error instanceof DatabaseError)
    return ofDatabaseError(error) === UNREACHABLE || error.code === '25P03' || isOutdatedPlan(error);
  return isReadTimeout(error) || isLostConnection(error);
};

const ofOtherError = (error: AnyError): Translation | undefined => {
  if (error instanceof knex.KnexTimeoutError) return NO_CONNECTION_FREE;
  if (isReadTimeout(error)) return TOO_SLOW;
  if (error.message === NO_TLS) return WITHOUT_TLS;
  if (typeof error.code === 'string' && TLS_CODES.test(error.code))
    return unavailable(`The database cannot be reached over TLS (${error.code}): ${tlsAdvice(error.code)}.`);
  return isLostConnection(error) ? UNREACHABLE : undefined;
};

/** The query builder prepends the statement to the driver's message. */
const withoutStatement = (message: string): string => message.slice(message.lastIndexOf(' - ') + 1).replace(/^- /, '');

/**
 * Converts a failure of the database to an error for the caller: `database_unavailable` if the same request can succeed later,
 * `invalid_request` if the values cannot be stored, `forbidden` if row security refuses a write, else `internal_error`. Anything that is
 * not a failure of the database is returned unchanged.
 */
export const translateError = (error: unknown): unknown => {
  if (!isError(error) || error instanceof ServiceError) return error;
  const isServerError = error instanceof DatabaseError;
  const translation = isServerError ? ofDatabaseError(error) : ofOtherError(error);
  if (translation === undefined) return error;
  const cause = isServerError ? new DatabaseFault(error) : error;
  return new ServiceError(translation.code, translation.message, {}, { cause });
};

/** SQLSTATE classes of invalid values and of violated constraints. */
const REFUSED_VALUES: ReadonlySet<string> = new Set(['22', '23']);

/** Whether a translated error means that the database refused the values of a write: repeating the same write fails again. */
export const refusesValues = (error: unknown): boolean =>
  error instanceof ServiceError &&
  error.cause instanceof DatabaseFault &&
  REFUSED_VALUES.has(error.cause.sqlState.slice(0, 2));

const QUERY_CANCELED = '57014';

/** Whether a translated error means that a statement exceeded the time limit of the database. */
export const ranTooLong = (error: unknown): boolean =>
  error instanceof ServiceError && error.cause instanceof DatabaseFault && error.cause.sqlState === QUERY_CANCELED;
