import { scrypt } from 'node:crypto';

/** Cost of scrypt: 32 MiB and some tens of milliseconds for each guess. */
const COST = 32_768;
const BLOCK_SIZE = 8;
const PARALLELISM = 1;
const SALT_BYTES = 16;
const KEY_BYTES = 32;
const MAX_MEMORY_BYTES = 64 * 1024 * 1024;

/** Hashes a password for storage: `scrypt$cost$block$parallel$salt$hash`, so that the costs can grow later. */
export const hashPassword = (password: string, randomBytes: (size: number) => Buffer): Promise<string> => {
  const salt = randomBytes(SALT_BYTES);
  const options = { N: COST, r: BLOCK_SIZE, p: PARALLELISM, maxmem: MAX_MEMORY_BYTES };
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, KEY_BYTES, options, (error, key) => {
      if (error) reject(error);
      else
        resolve(['scrypt', COST, BLOCK_SIZE, PARALLELISM, salt.toString('base64'), key.toString('base64')].join('$'));
    });
  });
};
