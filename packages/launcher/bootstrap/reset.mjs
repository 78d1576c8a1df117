// `npm run reset`: wipes the data of this checkout's embedded servers; fetched binaries are kept.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { refuse, root } from './toolchain.mjs';

const local = join(root, '.local');
const lock = join(local, 'launcher.lock');

const isAlive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

if (existsSync(lock) && isAlive(Number(readFileSync(lock, 'utf8'))))
  refuse('It is running: stop it with Ctrl-C before you reset it.');

const elsewhere = join(local, 'data', 'locations.json');
const outside = existsSync(elsewhere) ? JSON.parse(readFileSync(elsewhere, 'utf8')) : [];
for (const path of [...outside, 'data', 'logs', 'overrides', 'connection.json', 'api-key.json', 'launcher.lock']) {
  rmSync(join(path.startsWith('/') ? '' : local, path), { recursive: true, force: true });
}
process.stdout.write('Wiped. The next `npm start` begins with an empty database and the examples.\n');
