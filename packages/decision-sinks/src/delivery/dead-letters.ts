import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '@decision/contracts';
import { jsonOf, type SinkRecord } from '../reading/sink-record';

/** A record that its sink did not accept. */
export interface DeadLetter {
  readonly record: SinkRecord;
  readonly reason: string;
  /** The sink's own message. */
  readonly detail?: string | undefined;
}

interface DeadLettersOptions {
  readonly folder: string;
  /** Name of the sink, and of its file. */
  readonly sink: string;
  /** Maximum bytes of the file. */
  readonly maxBytes: number;
}

/** The file of records that a sink did not accept: JSON lines. */
export interface DeadLetters {
  /** Makes the folder, and rejects if it is not writable. */
  prepare(): Promise<void>;
  /** Resolves once the letters are on the disk. Rejects if they cannot be written: some may have been, and will then appear twice. */
  write(letters: readonly DeadLetter[]): Promise<void>;
}

const NEWLINE = 0x0a;

/** The file is opened for each write, so that moving it away makes room. */
export const createDeadLetters = ({ folder, sink, maxBytes }: DeadLettersOptions): DeadLetters => {
  const path = join(folder, `${sink}.ndjson`);
  const withFile = async <T>(work: (file: FileHandle) => Promise<T>): Promise<T> => {
    const file = await open(path, 'a+', 0o600);
    try {
      return await work(file);
    } finally {
      await file.close();
    }
  };
  return {
    prepare: async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await withFile((file) => file.datasync());
    },
    write: async (letters) => {
      const lines = Buffer.from(letters.map((letter) => `${lineOf(letter, sink)}\n`).join(''));
      await withFile(async (file) => {
        const { size } = await file.stat();
        if (size + lines.length > maxBytes)
          throw new ServiceError(
            'overloaded',
            `The file ${path} has ${size} of ${maxBytes} bytes; move it away, or allow more`,
          );
        // A process died while it wrote the last line: the next one starts on a new line.
        if (!(await endsWithLine(file, size))) await file.appendFile('\n');
        await file.appendFile(lines);
        await file.datasync();
        if (size === 0) await syncFolder(folder);
      });
    },
  };
};

const lineOf = ({ record, reason, detail }: DeadLetter, sink: string): string => {
  const why = JSON.stringify({ sink, at: new Date().toISOString(), reason, ...(detail ? { detail } : {}) });
  return `${why.slice(0, -1)},"record":${jsonOf(record)}}`;
};

const endsWithLine = async (file: FileHandle, size: number): Promise<boolean> => {
  if (size === 0) return true;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] === NEWLINE;
};

/** A new file survives a power loss once its folder is synced too. */
const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
