import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import {
  type ArchiveReading,
  filesOf,
  openCopies,
  openEngine,
  openObjectStore,
  poolOf,
} from '@decision/decision-archive';
import { StartRefusal, type Stopper } from '@decision/service-kit';
import { type CollectorConfig } from '../config';

/** An archive that has been opened. */
export interface OpenedArchive {
  readonly url: string;
  readonly store: ArchiveReading['store'];
}

/**
 * Opens the archive that the configuration names; undefined if it names none. Rejects with `StartRefusal` if it cannot be opened, or if
 * none is named although decisions are kept only in the archive.
 */
export const openArchive = async ({
  archiveUrl: url,
  logStore,
}: Pick<CollectorConfig, 'archiveUrl' | 'logStore'>): Promise<OpenedArchive | undefined> => {
  if (url === undefined && logStore === 'archive')
    throw new StartRefusal(
      'LOG_STORE is "archive", and ARCHIVE_URL names none. Name one, or keep decisions in the table.',
    );
  if (url === undefined) return undefined;
  const store = await openObjectStore(url).catch((error: unknown) => {
    throw new StartRefusal(`ARCHIVE_URL: ${error instanceof Error ? error.message : String(error)}`);
  });
  return { url, store };
};

type ReadingConfig = Pick<
  CollectorConfig,
  'archiveQueryMemoryBytes' | 'archiveQueryProcesses' | 'archiveQueryTimeoutMs' | 'archiveCacheBytes'
>;

/** Questions that may wait for one process. */
const MOST_WAITING = 8;

/** Opens the engines that answer questions from the archive; their processes end with the service. */
export const openReading = async (
  { url, store }: OpenedArchive,
  config: ReadingConfig,
  stopper: Stopper,
): Promise<ArchiveReading> => {
  const isFolder = url.startsWith('file:');
  const copies = isFolder
    ? undefined
    : await openCopies({
        ...{ store, parent: tmpdir(), mostBytes: config.archiveCacheBytes, deadlineMs: config.archiveQueryTimeoutMs },
      });
  const open = () =>
    openEngine({
      ...{ parent: tmpdir(), readable: [copies?.folder ?? fileURLToPath(url)] },
      ...{ memoryBytes: config.archiveQueryMemoryBytes, spillBytes: config.archiveQueryMemoryBytes, threads: 1 },
      ...{ deadlineMs: config.archiveQueryTimeoutMs, maxQueued: MOST_WAITING },
    });
  const others = Array.from({ length: config.archiveQueryProcesses - 1 }, open);
  const engine = poolOf([await open(), ...(await Promise.all(others))]);
  stopper.add('questions to the archive', async () => {
    await engine.stop();
    await copies?.stop();
  });
  return { store, engine, objects: copies ?? filesOf(store) };
};
