import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import { type ServiceName } from '@decision/contracts';

/** Keeps what the services print: all of it in a file each, warnings and worse on the console too. */
export interface ServiceLogs {
  write(service: ServiceName, line: string): void;
  close(): Promise<void>;
}

/** Levels of the services' JSON lines that a person should see. */
const WORTH_SAYING: ReadonlySet<unknown> = new Set(['warn', 'error', 'fatal']);

/** Files are begun anew at each start, so that they hold one run and do not grow for ever. */
export const openServiceLogs = (directory: string, say: (line: string) => void): ServiceLogs => {
  mkdirSync(directory, { recursive: true });
  const files = new Map<ServiceName, WriteStream>();
  const fileOf = (service: ServiceName): WriteStream => {
    const known = files.get(service);
    if (known) return known;
    const file = createWriteStream(join(directory, `${service}.log`));
    files.set(service, file);
    return file;
  };
  return {
    write: (service, line) => {
      fileOf(service).write(`${line}\n`);
      const summary = worthSaying(line);
      if (summary !== undefined) say(`[${service}] ${summary}`);
    },
    close: async () => {
      await Promise.all([...files.values()].map((file) => new Promise((resolve) => file.end(resolve))));
    },
  };
};

/** The message of a warning or an error; text that is no log line, such as a crash, is said as it is. */
const worthSaying = (line: string): string | undefined => {
  try {
    const entry = JSON.parse(line) as { level?: unknown; msg?: unknown };
    return WORTH_SAYING.has(entry.level) ? String(entry.msg) : undefined;
  } catch {
    return line;
  }
};
