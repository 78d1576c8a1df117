import { ServiceError } from '@decision/contracts';

const PROTOCOLS = new Set(['postgres:', 'postgresql:']);

/**
 * Checks the form of a database URL and answers it unchanged. Throws `internal_error` without repeating the URL: it may hold a
 * password.
 */
export const checkDatabaseUrl = (url: string): string => {
  if (URL.canParse(url) && PROTOCOLS.has(new URL(url).protocol)) return url;
  throw new ServiceError(
    'internal_error',
    'The database URL must look like postgresql://user:password@host:5432/name.',
  );
};
