import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import {
  ArchiveError,
  filesOf,
  openCopies,
  openEngine,
  openSigner,
  type Signer,
  type UpkeepTools,
} from '@decision/decision-archive';
import { StartRefusal } from '@decision/service-kit';
import { type CollectorConfig } from '../config';
import { type OpenedArchive } from './open-archive';

/** Longest time of one compaction, ms. */
const COMPACTION_DEADLINE_MS = 300_000;
/** Bytes that a compaction may write to disk, as a multiple of its memory. */
const SPILL = 8;

/** The part of the configuration that the tools need. */
export type ToolsConfig = Pick<CollectorConfig, 'archiveMemoryBytes' | 'archiveCacheBytes' | 'archiveSigningKey'>;

/** Opens the tools of upkeep; `stop` ends their process. Rejects with `StartRefusal` if the key cannot be used. */
export const openTools = async (
  { url, store }: OpenedArchive,
  config: ToolsConfig,
): Promise<{ readonly tools: UpkeepTools; readonly stop: () => Promise<void> }> => {
  const signer = await readSigner(config.archiveSigningKey);
  const limits = { parent: tmpdir(), deadlineMs: COMPACTION_DEADLINE_MS };
  const copies = url.startsWith('file:')
    ? undefined
    : await openCopies({ ...limits, store, mostBytes: config.archiveCacheBytes });
  const engine = await openEngine({
    ...{ ...limits, readable: [copies?.folder ?? fileURLToPath(url)], maxQueued: 1, threads: 1 },
    ...{ memoryBytes: config.archiveMemoryBytes, spillBytes: SPILL * config.archiveMemoryBytes },
  });
  const stop = async (): Promise<void> => {
    await engine.stop();
    await copies?.stop();
  };
  return { tools: { store, engine, objects: copies ?? filesOf(store), now: Date.now, signer }, stop };
};

const readSigner = async (path: string | undefined): Promise<Signer | undefined> => {
  if (path === undefined) return undefined;
  try {
    return openSigner(await readFile(path, 'utf8'));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException; // only used for its texts
    const reason = error instanceof ArchiveError ? message : `The file cannot be read (${code ?? 'unknown'}).`;
    throw new StartRefusal(`ARCHIVE_SIGNING_KEY: ${reason}`, { cause: error });
  }
};
