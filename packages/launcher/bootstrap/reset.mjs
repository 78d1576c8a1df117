// `npm run reset`: wipes the data of this checkout's embedded servers; fetched binaries are kept.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { refuse, requireBuilt, root } from './toolchain.mjs';

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

if (existsSync(lock) && isAlive(Number.parseInt(readFileSync(lock, 'utf8'), 10)))
  refuse('It is running: stop it with Ctrl-C before you reset it.');

// Data lies outside the checkout if the database's user cannot read the checkout. Without a build there is no such data.
const localStack = 'packages/local-stack/dist/index.js';
const data = join(local, 'data');
const places = existsSync(join(root, localStack)) ? requireBuilt(localStack).stackLocations(data) : [data];
const others = ['logs', 'overrides', 'connection.json', 'api-key.json', 'people.json', 'launcher.lock'].map((name) =>
  join(local, name),
);
for (const path of [...places, ...others]) rmSync(path, { recursive: true, force: true });
process.stdout.write('Wiped. The next `npm start` begins with an empty database and the examples.\n');
