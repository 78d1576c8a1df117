import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '@decision/contracts';
import { jsonOf, type SinkRecord } from '../reading/sink-record';

/** A record that its sink did not take. */
export interface DeadLetter {
  readonly record: SinkRecord;
  readonly reason: string;
  /** The sink's own words. */
  readonly detail?: string | undefined;
}

interface DeadLettersOptions {
  readonly folder: string;
  /** Name of the sink, and of its file. */
  readonly sink: string;
  /** Bytes of the file at most. */
  readonly maxBytes: number;
}

/** The file of what a sink did not take: lines of JSON. */
export interface DeadLetters {
  /** Makes the folder, and rejects where it cannot be written. */
  prepare(): Promise<void>;
  /** Resolves once the letters are on the disk. Rejects where they cannot be written: some may be there then, and will be there twice. */
  write(letters: readonly DeadLetter[]): Promise<void>;
}

const NEWLINE = 0x0a;

/** The file is opened for each write: whoever moves it away makes room. */
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
        // Somebody died while writing the last line: the next one is whole all the same.
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

/** A new file is there after a loss of power once its folder is on the disk too. */
const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
