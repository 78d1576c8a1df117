// Plain JavaScript without dependencies, since this runs before anything is installed.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');

/** Exports of a built file. Loaded by `require`: `import` finds no named exports in the modules that the build writes. */
export const requireBuilt = (path) => createRequire(import.meta.url)(join(root, path));

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const STAMP = join(root, 'node_modules', '.installed-for');

/** Ends the process with one sentence. */
export const refuse = (sentence) => {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
};

/** Prints a step, and afterwards its duration. */
export const step = async (what, work) => {
  const started = Date.now();
  process.stdout.write(`- ${what} ...\n`);
  const result = await work();
  process.stdout.write(`  done in ${((Date.now() - started) / 1000).toFixed(1)} s\n`);
  return result;
};

export const checkNode = () => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  refuse(`Node ${process.versions.node} is too old: install Node 20.19 or newer.`);
};

/** Runs a program with its output shown; resolves with its exit code. */
export const run = (command, args, { env = {}, cwd = root } = {}) =>
  new Promise((done, fail) => {
    const child = spawn(command, args, {
      cwd,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, ...env },
    });
    child.once('error', fail);
    child.once('exit', (code, signal) => done(code ?? (signal ? 1 : 0)));
  });

/** Runs a program; resolves with its exit code and its whole output. */
export const runQuietly = (command, args) =>
  new Promise((done, fail) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    const printed = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => printed.push(bytes));
    child.once('error', fail);
    child.once('close', (code) => done({ exitCode: code ?? 1, output: Buffer.concat(printed).toString() }));
  });

/** Installs the locked dependencies with the pinned pnpm, unless they are installed already. */
export const install = async () => {
  const wanted = createHash('sha256')
    .update(readFileSync(join(root, 'pnpm-lock.yaml')))
    .update(process.version)
    .digest('hex');
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return;
  await step('installing dependencies', async () => {
    const code = await pnpm(['install', '--frozen-lockfile', '--reporter=append-only', '--loglevel=warn']);
    if (code !== 0) refuse(`Installing failed (exit code ${code}); the lines above say why.`);
  });
  mkdirSync(dirname(STAMP), { recursive: true });
  writeFileSync(STAMP, wanted);
};

/** Runs the pinned pnpm, without a manual installation. */
const pnpm = (args, env = {}) =>
  run('npx', ['--yes', manifest.packageManager, ...args], { env: { npm_config_loglevel: 'error', ...env } });

/** Runs turbo the way pnpm does, since turbo looks for pnpm on PATH. */
export const turbo = (args, env = {}) =>
  pnpm(['exec', 'turbo', ...args], { TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1', ...env });

export const build = async () => {
  await step('building', async () => {
    const code = await turbo(['run', 'build', '--output-logs=errors-only', '--log-order=grouped']);
    if (code !== 0) refuse(`The build failed (exit code ${code}); the lines above say why.`);
  });
};
