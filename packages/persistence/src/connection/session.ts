import { ServiceError } from '@decision/contracts';
import { type Client, DatabaseError } from 'pg';
import { runtimeRole } from './runtime-role';
import { DatabaseFault } from './translate-error';

/** How long a transaction may be idle between two statements, ms. The server then ends it. */
const IDLE_IN_TRANSACTION_MS = 30_000;

/** Gives up the rights of the login and sets the limits for every statement of the connection. */
export const prepareSession = async (client: Client, statementTimeoutMs: number): Promise<void> => {
  const text = `
    set search_path = public;
    set statement_timeout = ${statementTimeoutMs};
    set lock_timeout = ${Math.ceil(statementTimeoutMs / 2)};
    set idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS};
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
