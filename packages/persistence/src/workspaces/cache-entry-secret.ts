import { ServiceError } from '@decision/contracts';
import { type Database } from '../connection/database';

/** The secret with which the services of this deployment sign entries of the shared cache, 32 bytes. Throws `database_unavailable`. */
export const readCacheEntrySecret = async (database: Pick<Database, 'lookUp'>): Promise<Uint8Array> => {
  const [row] = await database.lookUp<{ readonly secret: Buffer | null }>('select cache_entry_secret() as secret');
  if (row?.secret) return row.secret;
  throw new ServiceError(
    'internal_error',
    'The database holds no secret for cache entries: the row "cache_entries" of deployment_secrets is missing.',
  );
};
