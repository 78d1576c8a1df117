import { type MessageHolder, type SubscribedMessage } from '@decision/broker';
import { backOffMs, pause, settledWithin } from '@decision/waiting';
import { type Boundary, type BoundaryStart, digestOf, nameOfStart } from './boundary';
import { type RollOptions, writeRoll } from './write-roll';
import { ArchiveError } from './archive-error';

/** Events of archiving. */
export interface ArchiverObserver {
  /** Objects and their manifest were written. */
  readonly rolled: (counts: RollCounts) => void;
  /** An attempt failed, with its reason; it will be repeated. */
  readonly failed: (reason: string) => void;
}

interface RollCounts {
  readonly objects: number;
  readonly records: number;
  readonly unreadable: number;
  readonly bytes: number;
  readonly tookMs: number;
}

interface ArchiverOptions extends RollOptions {
  /** Bytes of messages of one partition that make objects. */
  readonly rollBytes: number;
  /** Age of the oldest message of a partition that makes objects, ms. */
  readonly rollMs: number;
  /** Bytes and number of messages of all partitions that may be held; from half of either on, the largest partition is written early. */
  readonly bufferBytes: number;
  /** Default: any number. */
  readonly bufferMessages?: number;
  readonly observer: ArchiverObserver;
}

/** Turns messages into objects. */
interface Archiver extends MessageHolder {
  status(): ArchiverStatus;
  /** Drops the messages that are held; the next reader of their partitions receives them again. */
  stop(): Promise<void>;
}

interface ArchiverStatus {
  /** Whether the last attempt failed. */
  readonly failing: boolean;
  readonly heldBytes: number;
  /** When the oldest message that is held was written, epoch ms; undefined if none is held. */
  readonly oldestAt: number | undefined;
}

interface Held {
  readonly message: SubscribedMessage;
  readonly bytes: number;
  finish: () => void;
}

interface Partition {
  held: Held[];
  bytes: number;
  /** When the first of them arrived. */
  since: number;
  boundary: Boundary | undefined;
  /** Whether the store has been asked for a boundary that begins with the first of them. */
  asked: boolean;
  failures: number;
  retryAt: number;
}

/**
 * Number of messages of one partition that make objects regardless of size: each takes some 3 KiB besides its value, and as much again
 * while it is written.
 */
const ROLL_MESSAGES = 20_000;
/** Interval between checks of the partitions, ms. */
const LOOK_MS = 100;
/** How long stopping waits for a store that does not answer, ms. */
const STOP_MS = 2_000;
const RETRY = { initialMs: 500, maxMs: 30_000 };

/** The first of these messages that become objects together: up to a number of bytes, and at least one. */
const extentOf = (held: readonly Held[], most: number): { readonly to: number; readonly bytes: number } => {
  let [to, sum] = [0, 0];
  for (const { message, bytes } of held.slice(0, ROLL_MESSAGES)) {
    if (sum > 0 && sum + bytes > most) break;
    sum += bytes;
    to = message.offset + 1;
  }
  return { to, bytes: sum };
};

/** A repeated message finishes with the one that is held, or at once if that one is finished. */
const finishLater = (held: readonly Held[], offset: number, finish: () => void): void => {
  const same = held.find(({ message }) => message.offset === offset);
  if (same === undefined) {
    finish();
    return;
  }
  const before = same.finish;
  same.finish = once(() => {
    before();
    finish();
  });
};

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

const membersOf = (text: string): { readonly to?: unknown; readonly bytes?: unknown } => {
  try {
    return Object(JSON.parse(text)) as { readonly to?: unknown; readonly bytes?: unknown }; // any value has members, perhaps undefined
  } catch {
    return {};
  }
};

const once = (finish: () => void): (() => void) => {
  let finished = false;
  return () => {
    if (!finished) finish();
    finished = true;
  };
};

/**
 * Makes an archiver, which starts at once. It stores the boundary of each roll before the objects and a manifest after them
 * (docs/adr/0052-objects-have-boundaries-before-and-manifests-after.md). So a process that starts again with the same message makes the
 * same objects under the same names.
 */
export const createArchiver = (options: ArchiverOptions): Archiver => {
  const { store, observer, bufferMessages = Infinity } = options;
  const partitions = new Map<number, Partition>();
  const ending = new AbortController();

  const heldBytes = (): number => [...partitions.values()].reduce((sum, { bytes }) => sum + bytes, 0);

  const heldMessages = (): number => [...partitions.values()].reduce((sum, { held }) => sum + held.length, 0);

  /** Whether messages of its boundary have not arrived yet. */
  const isIncomplete = ({ boundary, held }: Partition): boolean =>
    boundary !== undefined && (held.at(-1)?.message.offset ?? -1) < boundary.to - 1;

  /** Whether it has the most bytes among partitions that need not wait for messages. */
  const isLargest = (partition: Partition): boolean =>
    [...partitions.values()].every((other) => other.bytes <= partition.bytes || isIncomplete(other));

  const isDue = (partition: Partition): boolean =>
    partition.bytes >= options.rollBytes ||
    partition.held.length >= ROLL_MESSAGES ||
    performance.now() - partition.since >= options.rollMs ||
    ((heldBytes() >= options.bufferBytes / 2 || heldMessages() >= bufferMessages / 2) && isLargest(partition));

  /**
   * Bytes that may be held while boundaries are incomplete: boundaries that several processes began may together exceed the buffer of one
   * (docs/adr/0060-what-was-begun-is-finished-beyond-the-buffer.md).
   */
  const mostBytes = (): number =>
    [...partitions.values()].reduce((sum, { boundary }) => sum + (boundary?.bytes ?? 0), options.bufferBytes);

  const readBoundary = async (start: BoundaryStart): Promise<Boundary | undefined> => {
    const key = `boundaries/${nameOfStart(start)}.json`;
    const text = await store.read(key);
    if (text === undefined) return undefined;
    const { to, bytes } = membersOf(text);
    if (!isCount(to) || to <= start.from || !isCount(bytes))
      throw new ArchiveError(
        'damaged_object',
        `The object "${key}" of the archive is not a boundary. Restore its content, or remove it.`,
      );
    if (bytes > options.bufferBytes)
      throw new ArchiveError(
        'too_small',
        `The objects of "${key}" need ${bytes} bytes of messages, and ${options.bufferBytes} may be held: raise ARCHIVE_BUFFER_BYTES to that number until they are written.`,
      );
    return { ...start, to, bytes };
  };

  /** The boundary around the first messages of a partition; undefined if none is due. */
  const boundaryOf = async (id: number, partition: Partition): Promise<Boundary | undefined> => {
    const first = partition.held[0]?.message;
    if (first === undefined) return undefined;
    const start = { topic: first.topic, partition: id, from: first.offset, digest: digestOf(first) };
    if (!partition.asked) {
      const found = await readBoundary(start);
      partition.asked = true;
      if (found !== undefined) return found;
    }
    if (!isDue(partition)) return undefined;
    const boundary = { ...start, ...extentOf(partition.held, options.rollBytes) };
    const made = await store.create(`boundaries/${nameOfStart(start)}.json`, JSON.stringify({ v: 1, ...boundary }));
    // Another process may have read the same messages.
    return made ? boundary : readBoundary(start);
  };

  const settle = (partition: Partition, { to }: Boundary): void => {
    const settled = partition.held.filter(({ message }) => message.offset < to);
    partition.held = partition.held.filter(({ message }) => message.offset >= to);
    for (const { bytes, finish } of settled) {
      partition.bytes -= bytes;
      finish();
    }
    Object.assign(partition, { boundary: undefined, asked: false, since: performance.now() });
  };

  /** Writes the messages of a partition that are due; answers whether it wrote any. */
  const advance = async (id: number, partition: Partition): Promise<boolean> => {
    partition.boundary ??= await boundaryOf(id, partition);
    const { boundary } = partition;
    if (boundary === undefined || isIncomplete(partition)) return false;
    const messages = partition.held.map(({ message }) => message).filter(({ offset }) => offset < boundary.to);
    const begunAt = performance.now();
    const counts = await writeRoll(boundary, messages, options);
    if (counts !== undefined) observer.rolled({ ...counts, tookMs: performance.now() - begunAt });
    settle(partition, boundary);
    return true;
  };

  const attempt = async (id: number, partition: Partition): Promise<void> => {
    if (performance.now() < partition.retryAt) return;
    try {
      while (!ending.signal.aborted && (await advance(id, partition)));
      partition.failures = 0;
    } catch (error) {
      if (ending.signal.aborted) return;
      partition.failures += 1;
      partition.retryAt = performance.now() + backOffMs(partition.failures, RETRY);
      observer.failed(error instanceof Error ? error.message : String(error));
    }
  };

  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      for (const [id, partition] of partitions) await attempt(id, partition);
      await pause(LOOK_MS, ending.signal);
    }
  };
  const running = run();

  return {
    accept: (message, finish) => {
      const known = partitions.get(message.partition);
      const now = performance.now();
      const partition: Partition = known ?? {
        ...{ held: [], bytes: 0, since: now, boundary: undefined, asked: false, failures: 0, retryAt: now },
      };
      if (known === undefined) partitions.set(message.partition, partition);
      if (partition.held.length === 0) partition.since = now;
      const last = partition.held.at(-1);
      if (last !== undefined && message.offset <= last.message.offset) {
        // It was delivered again, and is held.
        finishLater(partition.held, message.offset, finish);
        return;
      }
      const bytes = message.value?.length ?? 0;
      partition.held.push({ message, bytes, finish: once(finish) });
      partition.bytes += bytes;
    },
    lost: (lost) => {
      for (const id of lost) {
        for (const { finish } of partitions.get(id)?.held ?? []) finish();
        partitions.delete(id);
      }
    },
    needsMore: () => [...partitions.values()].some(isIncomplete) && heldBytes() < mostBytes(),
    status: () => {
      const failing = [...partitions.values()].some(({ failures }) => failures > 0);
      const times = [...partitions.values()].flatMap(({ held: [first] }) => first?.message.writtenAt ?? []);
      return { failing, heldBytes: heldBytes(), oldestAt: times.length === 0 ? undefined : Math.min(...times) };
    },
    stop: async () => {
      ending.abort();
      await options.engine.stop();
      await settledWithin(running, STOP_MS);
    },
  };
};
