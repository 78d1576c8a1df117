import { scrypt, timingSafeEqual } from 'node:crypto';

/** Costs of argon2id: 46 MiB and some tens of milliseconds for each guess. */
const COSTS = { memoryCost: 47_104, timeCost: 2, parallelism: 1 };
/** Argon2id in the library's enumeration, which does not exist at run time. */
const ARGON2ID = 2;
const SALT_BYTES = 16;

/** Hashes a password for storage, in PHC format (`$argon2id$v=19$m=...`), so that the costs can be raised later. */
export const hashPassword = async (password: string, randomBytes: (size: number) => Buffer): Promise<string> => {
  const { hash } = await argon2();
  return hash(password.normalize('NFKC'), { ...COSTS, algorithm: ARGON2ID, salt: randomBytes(SALT_BYTES) });
};

/** Loaded only by processes that check passwords, since it is native code. */
const argon2 = () => import('@node-rs/argon2');

/** The hash of a discarded random text; it is checked if there is no hash, so that the time is the same. */
const NOBODY = '$argon2id$v=19$m=47104,t=2,p=1$jDwUG7upI9Bw4yyAquWsfg$PMdZwh3BMPvs0jwaTR6tkPylwngyp5/IWbRvx2a+INQ';

/**
 * Whether a password matches a hash of {@link hashPassword}, or an older one: `scrypt$cost$block$parallel$salt$hash`. Without a hash it
 * takes the same time and is false; false too for a hash that cannot be parsed.
 */
export const verifyPassword = (password: string, stored: string | null): Promise<boolean> => {
  const given = password.normalize('NFKC');
  return stored?.startsWith('scrypt$') === true ? verifyScrypt(given, stored) : verifyArgon2(given, stored);
};

/** Maximum accepted costs: a stored hash must not be able to block a process. */
const MOST = { m: 262_144, t: 10, p: 4 };
const PARAMETERS = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$/;

const verifyArgon2 = async (password: string, stored: string | null): Promise<boolean> => {
  const hash = stored ?? NOBODY;
  const [, m, t, p] = PARAMETERS.exec(hash) ?? [];
  if (!(Number(m) <= MOST.m && Number(t) <= MOST.t && Number(p) <= MOST.p)) return false;
  const { verify } = await argon2();
  try {
    return (await verify(hash, password)) && stored !== null;
  } catch {
    return false; // a hash that it cannot parse
  }
};

const KEY_BYTES = 32;
const SCRYPT_MOST = { N: 131_072, r: 16, p: 4, maxmem: 512 * 1024 * 1024 };

const verifyScrypt = (password: string, stored: string): Promise<boolean> => {
  const [, cost, block, parallel, salt = '', key = ''] = stored.split('$');
  const [N, r, p] = [Number(cost), Number(block), Number(parallel)];
  const { maxmem } = SCRYPT_MOST;
  if (!(N <= SCRYPT_MOST.N && r <= SCRYPT_MOST.r && p <= SCRYPT_MOST.p)) return Promise.resolve(false);
  const expected = Buffer.from(key, 'base64');
  return new Promise((resolve) => {
    try {
      scrypt(password, Buffer.from(salt, 'base64'), KEY_BYTES, { N, r, p, maxmem }, (error, derived) =>
        resolve(error === null && expected.length === KEY_BYTES && timingSafeEqual(derived, expected)),
      );
    } catch {
      resolve(false); // parameters that scrypt does not accept
    }
  });
};
