import { ServiceError } from '@decision/contracts';
import { DatabaseError } from 'pg';

const CHECK_VIOLATION = '23514';
const LIMIT_BYTES = 64 * 1024 * 1024;

/** Runs a write of instances. Throws `payload_too_large` where the table refuses one of more than 64 MiB. */
export const refuseTooLarge = async <T>(write: () => Promise<T>): Promise<T> => {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code !== CHECK_VIOLATION) throw error;
    const message =
      'An instance would exceed 64 MiB of facts and executions, as the database writes them; nothing of this transaction was merged.';
    throw new ServiceError('payload_too_large', message, { limit_bytes: LIMIT_BYTES });
  }
};
