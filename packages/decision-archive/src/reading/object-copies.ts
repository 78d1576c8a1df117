import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { withDeadline } from '@decision/waiting';
import pLimit from 'p-limit';
import { ArchiveError } from '../archive-error';
import { type ObjectStore, type StoredObject } from '../store/object-store';
import { type LocalObjects } from './local-objects';
import { makeOwnFolder } from '../own-folder';
import { DOCUMENTS } from '../rows';
import { chunksOf, FOOTER_END, footerLength } from './parquet-footer';

interface CopiesOptions {
  readonly store: ObjectStore;
  /** The folder in which one for the copies is made. */
  readonly parent: string;
  /** Maximum bytes of all copies together. */
  readonly mostBytes: number;
  /** Longest time to fetch what one question reads, ms. */
  readonly deadlineMs: number;
}

/** Objects up to this size are fetched whole, whichever columns are read. */
const SMALL_BYTES = 262_144;
/** Bytes fetched first from the end of a larger object; a longer footer takes another request. */
const TAIL_BYTES = 65_536;
/** Maximum bytes of one request. */
const PIECE_BYTES = 4_194_304;
/** Concurrent requests of all questions together. */
const AT_ONCE = 8;

interface Range {
  readonly from: number;
  readonly to: number;
}

/** A file of the object's size; parts that were not fetched are holes. */
interface Copy extends StoredObject {
  readonly path: string;
  /** Number of questions that read it. */
  users: number;
  /** Bytes that have been or are being fetched. */
  held: number;
  /** Ranges of the documents, once everything else has been fetched. */
  columns: Promise<readonly Range[]> | undefined;
  documents: Promise<void> | undefined;
}

interface Copies extends LocalObjects {
  /** The folder of the files; nothing else writes to it. */
  readonly folder: string;
  /** Removes the folder. */
  stop(): Promise<void>;
}

/** Fetches the parts of a store's objects that questions read into files, and keeps them for later questions while there is room. */
export const openCopies = async ({ store, parent, mostBytes, deadlineMs }: CopiesOptions): Promise<Copies> => {
  const own = await makeOwnFolder(parent, 'decision-archive-copies-');
  const folder = own.path;
  /** By the names of objects, least recently used first. */
  const copies = new Map<string, Copy>();
  /** File names are never reused: one that is being removed must not be that of a new copy. */
  let made = 0;
  let heldBytes = 0;
  const objectInTurn = pLimit(AT_ONCE);
  const requestInTurn = pLimit(AT_ONCE);

  const hold = (copy: Copy, bytes: number): void => {
    copy.held += bytes;
    heldBytes += bytes;
  };

  const forget = async (copy: Copy): Promise<void> => {
    copies.delete(nameOf(copy));
    hold(copy, -copy.held);
    await rm(copy.path, { force: true });
  };

  const reserve = async (copy: Copy, bytes: number): Promise<void> => {
    hold(copy, bytes);
    const leaving: Promise<void>[] = [];
    for (const other of copies.values()) {
      if (heldBytes <= mostBytes) break;
      if (other.users === 0) leaving.push(forget(other));
    }
    await Promise.all(leaving);
    if (heldBytes <= mostBytes) return;
    hold(copy, -bytes);
    throw new NoRoom();
  };

  const fetch = async (copy: Copy, ranges: readonly Range[]): Promise<void> => {
    if (ranges.length === 0) return;
    const bytes = ranges.reduce((sum, { from, to }) => sum + to - from, 0);
    await reserve(copy, bytes);
    const file = await open(copy.path, 'r+');
    try {
      const pieces = ranges.flatMap(piecesOf).map(({ from, to }) =>
        requestInTurn(async () => {
          await file.write(await store.readRange(copy.key, from, to), 0, to - from, from);
        }),
      );
      // All of them, since the file is closed afterwards.
      const failed = (await Promise.allSettled(pieces)).find((piece) => piece.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    } catch (error) {
      hold(copy, -bytes);
      throw error;
    } finally {
      await file.close();
    }
  };

  /** Fetches everything except the documents; answers the ranges of the documents. */
  const fetchColumns = async (copy: Copy): Promise<readonly Range[]> => {
    const { key, bytes, path } = copy;
    const file = await open(path, 'w');
    try {
      await file.truncate(bytes);
    } finally {
      await file.close();
    }
    const documents = bytes <= SMALL_BYTES ? [] : await documentsOf(store, copy);
    if (bytes <= FOOTER_END) throw damaged(key);
    await fetch(copy, without(bytes, documents));
    return documents;
  };

  const fillParts = async (copy: Copy, withDocuments: boolean): Promise<void> => {
    const known = (copy.columns ??= objectInTurn(() => fetchColumns(copy)).catch((error: unknown) => {
      copy.columns = undefined;
      throw error;
    }));
    const documents = await known;
    if (!withDocuments) return;
    await (copy.documents ??= objectInTurn(() => fetch(copy, documents)).catch((error: unknown) => {
      copy.documents = undefined;
      throw error;
    }));
  };

  /** One user has finished with it. */
  const leave = (copy: Copy): void => {
    copy.users -= 1;
    if (copy.users > 0 || copy.columns !== undefined) return;
    // It could not be fetched.
    forget(copy).catch(() => undefined);
  };

  const fill = async (copy: Copy, withDocuments: boolean): Promise<void> => {
    // The fetch goes on even if nobody waits any longer, and the file must be left alone until then.
    copy.users += 1;
    try {
      await fillParts(copy, withDocuments);
    } catch (error) {
      const { code } = error as { readonly code?: unknown }; // only asked for a code
      if (error instanceof ArchiveError || error instanceof NoRoom) throw error;
      const why = typeof code === 'string' ? code : 'unknown';
      throw new ArchiveError('store_failed', `"${copy.key}" could not be copied to ${folder} (${why}).`, {
        cause: error,
      });
    } finally {
      leave(copy);
    }
  };

  const copyOf = (object: StoredObject): Copy => {
    const name = nameOf(object);
    const copy = copies.get(name) ?? newCopy(object, join(folder, `${(made += 1)}.parquet`));
    copies.delete(name);
    copies.set(name, copy);
    copy.users += 1;
    return copy;
  };

  return {
    folder,
    stop: () => own.remove(),
    open: (objects) => {
      const opened = objects.map(copyOf);
      return {
        paths: opened.map(({ path }) => path),
        fill: async (withDocuments) => {
          const filled = Promise.all(opened.map((copy) => fill(copy, withDocuments)));
          const late = `What a question reads of the archive took longer than ${deadlineMs} ms to fetch.`;
          try {
            await withDeadline(filled, deadlineMs, () => new ArchiveError('too_long', late));
          } catch (error) {
            throw error instanceof NoRoom ? noRoomFor(opened, mostBytes) : error;
          }
        },
        close: () => {
          opened.splice(0).forEach(leave);
        },
      };
    },
  };
};

const newCopy = ({ key, bytes }: StoredObject, path: string): Copy => ({
  ...{ key, bytes, path, users: 0, held: 0, columns: undefined, documents: undefined },
});

/** An object with another size has been replaced. */
const nameOf = ({ key, bytes }: StoredObject): string => `${bytes} ${key}`;

/** Other questions use all available bytes. */
class NoRoom extends Error {
  override readonly name = 'NoRoom';
}

/** A question that can never be answered gets its own error; another may be repeated. */
const noRoomFor = (opened: readonly StoredObject[], mostBytes: number): ArchiveError => {
  const needed = opened.reduce((sum, { bytes }) => sum + bytes, 0);
  return needed > mostBytes
    ? new ArchiveError(
        'too_large',
        `A question reads up to ${needed} bytes of the archive; ${mostBytes} may be copied.`,
      )
    : new ArchiveError('too_busy', `Other questions read all of the ${mostBytes} bytes that may be copied.`);
};

const damaged = (key: string, cause?: unknown): ArchiveError =>
  new ArchiveError('damaged_object', `The object "${key}" of the archive is not a complete Parquet object.`, { cause });

/** The byte ranges of document columns. */
const documentsOf = async (store: ObjectStore, { key, bytes }: StoredObject): Promise<readonly Range[]> => {
  const tail = await store.readRange(key, Math.max(0, bytes - TAIL_BYTES), bytes);
  const length = footerLength(tail);
  if (length === undefined || length > bytes - FOOTER_END) throw damaged(key);
  const from = bytes - FOOTER_END - length;
  const end = bytes - FOOTER_END;
  const footer =
    length + FOOTER_END <= tail.length
      ? tail.subarray(tail.length - FOOTER_END - length, tail.length - FOOTER_END)
      : await store.readRange(key, from, end);
  try {
    const chunks = chunksOf(footer).filter(({ column }) => DOCUMENTS.includes(column));
    if (chunks.some((chunk) => chunk.to > from)) throw new RangeError('A column chunk is beyond the columns.');
    return chunks;
  } catch (error) {
    throw damaged(key, error);
  }
};

/** The rest of an object without the given ranges. */
const without = (bytes: number, ranges: readonly Range[]): readonly Range[] => {
  const left: Range[] = [];
  let at = 0;
  for (const { from, to } of [...ranges].sort((a, b) => a.from - b.from)) {
    if (from > at) left.push({ from: at, to: from });
    at = Math.max(at, to);
  }
  if (at < bytes) left.push({ from: at, to: bytes });
  return left;
};

const piecesOf = ({ from, to }: Range): readonly Range[] =>
  Array.from({ length: Math.ceil((to - from) / PIECE_BYTES) }, (_, index) => {
    const start = from + index * PIECE_BYTES;
    return { from: start, to: Math.min(to, start + PIECE_BYTES) };
  });
