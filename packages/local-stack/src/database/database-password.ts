import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const BYTES = 18;

/** The superuser's password, made once and kept in a file of the stack that only its owner can read. */
export const databasePassword = (directory: string): string => {
  const path = join(directory, 'database-password');
  if (existsSync(path)) return readFileSync(path, 'utf8').trim();
  const password = randomBytes(BYTES).toString('base64url');
  writeFileSync(path, `${password}\n`, { mode: 0o600 });
  return password;
};
