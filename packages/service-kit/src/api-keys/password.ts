import { scrypt, timingSafeEqual } from 'node:crypto';

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

/** Costs beyond these are not ours: a stored hash must not be able to hold a process up. */
const MOST = { N: 131_072, r: 16, p: 4, maxmem: 512 * 1024 * 1024 };
/** What nobody's password hashes to; checked where there is no hash, so that this takes as long. */
const NOBODY = ['scrypt', COST, BLOCK_SIZE, PARALLELISM, '', ''].join('$');

/**
 * Whether a password is the one that was hashed as {@link hashPassword} does. Takes as long where there is no hash, and is false then; false too for a
 * hash that cannot be read.
 */
export const verifyPassword = (password: string, stored: string | null): Promise<boolean> => {
  const [name, cost, block, parallel, salt = '', key = ''] = (stored ?? NOBODY).split('$');
  const [N, r, p] = [Number(cost), Number(block), Number(parallel)];
  if (name !== 'scrypt' || !(N <= MOST.N && r <= MOST.r && p <= MOST.p)) return Promise.resolve(false);
  const expected = Buffer.from(key, 'base64');
  return new Promise((resolve) => {
    const given = password.normalize('NFKC');
    try {
      scrypt(given, Buffer.from(salt, 'base64'), KEY_BYTES, { N, r, p, maxmem: MOST.maxmem }, (error, derived) =>
        resolve(error === null && expected.length === KEY_BYTES && timingSafeEqual(derived, expected)),
      );
    } catch {
      resolve(false); // parameters that scrypt does not take
    }
  });
};
