import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from './source-tree';

/** Result of a run of jest. */
export interface PackageRun {
  readonly status: number | null;
  readonly output: string;
  /** Counts that the reporter wrote. */
  readonly counts: Readonly<Record<string, unknown>>;
}

/** Runs test files, by name, with the preset as a package would, one after the other, in a directory of their own. */
export const runPackage = (files: Readonly<Record<string, string>>): PackageRun => {
  const directory = mkdtempSync(join(tmpdir(), 'package-'));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
    const preset = JSON.stringify(join(repositoryRoot, 'packages/tooling/jest-preset.js'));
    const config = `module.exports = { ...require(${preset}), testMatch: ['<rootDir>/*.test.ts'], maxWorkers: 1 };`;
    writeFileSync(join(directory, 'jest.config.js'), config);
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(repositoryRoot, 'node_modules/jest/bin/jest.js'), '--forceExit', '--color'],
      { cwd: directory, encoding: 'utf8' },
    );
    const counts = JSON.parse(
      readFileSync(join(directory, 'test-results/counts.json'), 'utf8'),
    ) as PackageRun['counts'];
    return { status, output: `${stdout}${stderr}`, counts };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};
