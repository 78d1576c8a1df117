// `pnpm service <name>`: one service from its sources, with reload on save, against the running stack.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { checkNode, install, refuse, requireBuilt, root } from './toolchain.mjs';

const names = readdirSync(join(root, 'services'));
const name = process.argv[2];
if (!names.includes(name)) refuse(`Usage: pnpm service <name>, where <name> is one of: ${names.join(', ')}.`);

checkNode();
await install();

const connectionFile = join(root, '.local/connection.json');
if (!existsSync(connectionFile)) refuse('Nothing runs here yet: type `npm start` in another terminal first.');
const connection = JSON.parse(readFileSync(connectionFile, 'utf8'));

// The running stack was built, so its port allocation can be loaded and shared.
const { freePort } = requireBuilt('packages/local-stack/dist/index.js');
const port = process.env.PORT ?? String(await freePort());
const child = spawn(
  join(root, 'node_modules/.bin/tsx'),
  ['watch', '--conditions=source', '--clear-screen=false', 'src/main.ts', ...process.argv.slice(3)],
  {
    cwd: join(root, 'services', name),
    stdio: 'inherit',
    env: { LOG_LEVEL: 'debug', ...connection.service_environment, ...process.env, PORT: port, HOST: '127.0.0.1' },
  },
);

// The ingress of the running stack sends this service's requests here for as long as this file names a live process.
const override = join(root, '.local/overrides', `${name}.json`);
mkdirSync(join(root, '.local/overrides'), { recursive: true });
writeFileSync(override, JSON.stringify({ url: `http://127.0.0.1:${port}`, pid: child.pid }));
process.stdout.write(
  `${name} runs at http://127.0.0.1:${port}; requests to ${connection.base_url} reach it too. Ctrl-C gives them back.\n`,
);

const release = () => rmSync(override, { force: true });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
process.on('exit', release);
child.once('exit', (code) => process.exit(code ?? 0));
