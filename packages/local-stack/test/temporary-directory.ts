import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stackLocations } from '../src';

/** Binaries come from the checkout, since fetching them for every test would test the network. */
export const downloads = join(__dirname, '../../../.local/downloads');

const made: string[] = [];

/** An empty directory that {@link removeTemporaryDirectories} deletes, including files of its stack elsewhere. */
export const temporaryDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'local-stack-test-'));
  made.push(directory);
  return directory;
};

export const removeTemporaryDirectories = (): void => {
  for (const path of made.splice(0).flatMap(stackLocations)) rmSync(path, { recursive: true, force: true });
};
