import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Survives a restart of the machine, unlike the first choice for temporary files. */
const LASTING = '/var/tmp';
const DIGEST_LENGTH = 16;

/**
 * Location of the database of a stack when its own directory is closed to the user that runs the database (which happens to root, whose PostgreSQL
 * runs as somebody else): beside no checkout, but named after this one.
 */
export const outsideLocation = (directory: string): string => {
  const digest = createHash('sha256').update(resolve(directory)).digest('hex').slice(0, DIGEST_LENGTH);
  return join(existsSync(LASTING) ? LASTING : tmpdir(), `decision-stack-${digest}`);
};

/** Every path that must be deleted to leave nothing of a stack; those that do not exist were not needed. */
export const stackLocations = (directory: string): readonly string[] => [
  resolve(directory),
  outsideLocation(directory),
];

/** The file in a stack's directory that lists, as a JSON array, the absolute paths outside it that hold its data. */
export const LOCATIONS_FILE = 'locations.json';
