import { accessSync, constants } from 'node:fs';
import { ServiceError } from '@decision/contracts';

const PROTOCOLS = new Set(['postgres:', 'postgresql:']);

/** Parameters with names of certificate files, which the driver reads for each connection. */
const FILES = ['sslrootcert', 'sslcert', 'sslkey'] as const;

/**
 * Checks the form of a database URL, and that its files can be read, and answers it unchanged. Throws `internal_error` without repeating
 * the URL: it may contain a password.
 */
export const checkDatabaseUrl = (url: string): string => {
  if (URL.canParse(url) && PROTOCOLS.has(new URL(url).protocol)) {
    for (const name of FILES) checkFile(name, new URL(url).searchParams.get(name));
    return url;
  }
  throw new ServiceError(
    'internal_error',
    'The database URL must look like postgresql://user:password@host:5432/name.',
  );
};

const checkFile = (name: string, file: string | null): void => {
  if (file === null || file === '') return;
  try {
    accessSync(file, constants.R_OK);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException; // the error type of the file system
    throw new ServiceError(
      'internal_error',
      `The database URL names ${file} as ${name}, which cannot be read (${code}).`,
    );
  }
};
