import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerName } from './stack-options';

const BYTES = 18;

/**
 * The password of a server's one account, made once and kept in a file of the stack that only its owner can read. Other users of the machine reach
 * the ports of the servers too; this is what keeps them out.
 */
export const serverPassword = (directory: string, server: ServerName): string => {
  const path = join(directory, `${server}-password`);
  if (existsSync(path)) return readFileSync(path, 'utf8').trim();
  const password = randomBytes(BYTES).toString('base64url');
  mkdirSync(directory, { recursive: true });
  writeFileSync(path, `${password}\n`, { mode: 0o600 });
  return password;
};
