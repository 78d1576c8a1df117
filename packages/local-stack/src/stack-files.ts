import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ServerName } from './stack-options';

/** Survives a restart of the machine, unlike the first choice for temporary files. */
const LASTING = '/var/tmp';
const DIGEST_LENGTH = 16;

/**
 * Location of the database of a stack when its own directory is closed to the user that runs the database (which happens to root, whose
 * PostgreSQL runs as another user). It lies outside the checkout and is named after it.
 */
export const outsideLocation = (directory: string): string => {
  const digest = createHash('sha256').update(resolve(directory)).digest('hex').slice(0, DIGEST_LENGTH);
  return join(existsSync(LASTING) ? LASTING : tmpdir(), `decision-stack-${digest}`);
};

/** All paths to delete so that nothing of a stack remains; some may not exist. */
export const stackLocations = (directory: string): readonly string[] => [
  resolve(directory),
  outsideLocation(directory),
];

/** The file in a stack's directory that lists, as a JSON array, the absolute paths outside it that hold its data. */
export const LOCATIONS_FILE = 'locations.json';

const BYTES = 18;

/**
 * The password of a server's one account, made once and kept in a file of the stack that only its owner can read. Other users of the
 * machine can reach the ports of the servers too; the password keeps them out (docs/adr/0025-embedded-servers-ask-for-passwords.md).
 */
export const serverPassword = (directory: string, server: ServerName): string => {
  const path = join(directory, `${server}-password`);
  if (existsSync(path)) return readFileSync(path, 'utf8').trim();
  const password = randomBytes(BYTES).toString('base64url');
  mkdirSync(directory, { recursive: true });
  writeFileSync(path, `${password}\n`, { mode: 0o600 });
  return password;
};
