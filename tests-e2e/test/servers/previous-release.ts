import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { repositoryRoot } from '../fleet/fleet-under-test';

const MIGRATIONS = 'packages/persistence/src/migrations/all-migrations.ts';
const BUILD_MS = 300_000;

const git = (...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: repositoryRoot, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/** The last commit before the newest migration; undefined if the history does not reach back to it, as in a shallow clone. */
export const findPreviousRelease = (): string | undefined => {
  try {
    return git('rev-parse', '--verify', `${git('log', '-1', '--format=%H', '--', MIGRATIONS)}^`);
  } catch {
    return undefined;
  }
};

/**
 * Builds a commit in its own folder, with its own dependencies, and answers the folder. A folder built by an earlier run is reused; those of
 * other commits are removed.
 */
export const buildRelease = (commit: string): string => {
  const folder = join(repositoryRoot, '.local/previous-release');
  const built = join(folder, commit);
  if (existsSync(built)) return built;
  rmSync(folder, { recursive: true, force: true });
  const making = join(folder, 'making');
  mkdirSync(making, { recursive: true });
  const archive = execFileSync('git', ['archive', '--format=tar', commit], {
    ...{ cwd: repositoryRoot, maxBuffer: 256 * 1024 * 1024 },
  });
  execFileSync('tar', ['-x', '-C', making], { input: archive });
  const toolchain = pathToFileURL(join(making, 'packages/launcher/bootstrap/toolchain.mjs')).href;
  const script = `const { install, build } = await import(${JSON.stringify(toolchain)}); await install(); await build();`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    ...{ cwd: making, encoding: 'utf8', timeout: BUILD_MS },
  });
  if (status !== 0) throw new Error(`The commit ${commit} could not be built:\n${stdout}\n${stderr}`);
  renameSync(making, built);
  return built;
};
