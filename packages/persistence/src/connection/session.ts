import { ServiceError } from '@decision/contracts';
import { type Client, DatabaseError } from 'pg';
import { type DatabaseSettings, STATEMENT_TIMEOUT_MS } from './database-settings';
import { runtimeRole } from './runtime-role';
import { DatabaseFault } from './translate-error';

/** How long a transaction may be idle between two statements, ms. The server then ends it. */
const IDLE_IN_TRANSACTION_MS = 30_000;

/**
 * A plan that is made while a table is small would read all of it, also once it has grown. Where no index serves, its price would make the
 * database compile the plan.
 */
const KEEPING_PLANS = 'set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set jit = off;';

type SessionSettings = Pick<DatabaseSettings, 'statementTimeoutMs' | 'keepsPlans'>;

/** Gives up the rights of the login, and makes settings for every statement of the connection. */
export const prepareSession = async (
  client: Client,
  { statementTimeoutMs = STATEMENT_TIMEOUT_MS, keepsPlans = false }: SessionSettings,
): Promise<void> => {
  const text = `
    set search_path = public;
    set statement_timeout = ${statementTimeoutMs};
    set lock_timeout = ${Math.ceil(statementTimeoutMs / 2)};
    set idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS};
    ${keepsPlans ? KEEPING_PLANS : ''}
    set role ${runtimeRole};`;
  try {
    await client.query(text);
  } catch (error) {
    // Not awaited: a hanging server does not answer the end of the session either.
    client.end().catch(() => undefined);
    throw asRefusal(error);
  }
};

const MISSING_ROLE = '22023';
const NOT_A_MEMBER = '42501';

const asRefusal = (error: unknown): unknown => {
  if (!(error instanceof DatabaseError) || (error.code !== MISSING_ROLE && error.code !== NOT_A_MEMBER)) return error;
  const message = 'The database is not prepared for this service; an operator must run its migrations.';
  return new ServiceError('database_unavailable', message, {}, { cause: new DatabaseFault(error) });
};
