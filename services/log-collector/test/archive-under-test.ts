import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SubscribedMessage } from '@decision/broker';
import {
  type ArchiveReading,
  createArchiver,
  filesOf,
  openCopies,
  openEngine,
  openObjectStore,
} from '@decision/decision-archive';
import { readMessage } from '@decision/decision-logs';
import { waitUntil } from '@decision/local-stack';
import { decisionIdOf } from '@decision/persistence';

interface OpenOptions {
  /** Default: a separate folder. */
  readonly url?: string;
  /** Bytes of copies, if the archive is not a folder. */
  readonly cacheBytes?: number;
}

/** A separate archive; messages are passed to it as by its consumer. */
export interface ArchiveUnderTest {
  /** The folder of its objects, or of copies. */
  readonly folder: string;
  readonly reading: ArchiveReading;
  /** Resolves once everything is in objects. */
  archive(...messages: readonly SubscribedMessage[]): Promise<void>;
  stop(): Promise<void>;
}

export const openArchiveUnderTest = async ({
  url,
  cacheBytes: mostBytes = 1e9,
}: OpenOptions = {}): Promise<ArchiveUnderTest> => {
  const root = await mkdtemp(join(tmpdir(), 'archive-'));
  const store = await openObjectStore(url ?? `file://${join(root, 'archive')}`);
  const copies =
    url === undefined ? undefined : await openCopies({ store, parent: root, mostBytes, deadlineMs: 30_000 });
  const folder = copies?.folder ?? join(root, 'archive');
  const bounds = { memoryBytes: 268_435_456, spillBytes: 268_435_456, threads: 1, deadlineMs: 30_000, maxQueued: 10 };
  const reader = await openEngine({ ...bounds, parent: join(root, 'work'), readable: [folder] });
  const writer = await openEngine({ ...bounds, parent: join(root, 'work'), readable: [] });
  const failures: string[] = [];
  const archiver = createArchiver({
    ...{ store, engine: writer, decisionIdOf, rollBytes: 65_536, rollMs: 50, bufferBytes: 1e8 },
    recordsOf: ({ value, header }) => {
      const { records, counts } = readMessage(value, header('form') === 'list');
      return records.map((record) => ({ record, sequence: counts[0]?.sequence ?? null }));
    },
    observer: { rolled: () => undefined, failed: (reason) => void failures.push(reason) },
  });
  return {
    folder,
    reading: { store, engine: reader, objects: copies ?? filesOf(store) },
    archive: async (...messages) => {
      let waiting = messages.length;
      for (const message of messages) archiver.accept(message, () => (waiting -= 1));
      await waitUntil(
        () => waiting === 0,
        () => `all messages are archived: ${waiting} are not. ${failures.join(' ')}`,
      );
    },
    stop: async () => {
      await archiver.stop();
      await reader.stop();
      await rm(root, { recursive: true, force: true });
    },
  };
};
