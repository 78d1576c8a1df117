import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import { type ServiceName } from '@decision/contracts';

/**
 * Records the output of the services: all of it in one file per service, and warnings and errors on the console too. While a server is away
 * every service repeats the same few lines, so the console shows such a line once, and a minute later its number of repetitions.
 */
interface ServiceLogs {
  write(service: ServiceName, line: string): void;
  close(): Promise<void>;
}

/** Levels of the services' JSON lines that a person should see. */
const WORTH_SAYING: ReadonlySet<unknown> = new Set(['warn', 'error', 'fatal']);

/** Time during which repetitions of a line are only counted, ms. */
const QUIET_MS = 60_000;
/** Maximum lines that are counted at once for all services; further ones are printed immediately. */
const MAX_COUNTED = 200;

/** Prints each line once within a minute, and its number of repetitions at the end of the minute. */
const withoutRepetition = (say: (line: string) => void): { say(line: string): void; close(): void } => {
  const counted = new Map<string, { repeats: number; timer: NodeJS.Timeout }>();
  const settle = (line: string): void => {
    const { repeats = 0 } = counted.get(line) ?? {};
    counted.delete(line);
    if (repeats > 0) say(`${line} (${repeats} more ${repeats === 1 ? 'time' : 'times'} within a minute)`);
  };
  return {
    say: (line) => {
      const known = counted.get(line);
      if (known !== undefined) known.repeats += 1;
      else {
        say(line);
        if (counted.size < MAX_COUNTED)
          counted.set(line, { repeats: 0, timer: setTimeout(() => settle(line), QUIET_MS).unref() });
      }
    },
    close: () => {
      for (const [line, { timer }] of [...counted]) {
        clearTimeout(timer);
        settle(line);
      }
    },
  };
};

/** Files are truncated at each start, so that they hold one run and do not grow for ever. */
export const openServiceLogs = (directory: string, say: (line: string) => void): ServiceLogs => {
  mkdirSync(directory, { recursive: true });
  const files = new Map<ServiceName, WriteStream>();
  const console = withoutRepetition(say);
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
      if (summary !== undefined) console.say(`[${service}] ${summary}`);
    },
    close: async () => {
      console.close();
      await Promise.all([...files.values()].map((file) => new Promise((resolve) => file.end(resolve))));
    },
  };
};

/** The message of a warning or an error; other text, such as a crash, is printed unchanged. */
const worthSaying = (line: string): string | undefined => {
  try {
    const entry = JSON.parse(line) as { level?: unknown; msg?: unknown };
    return WORTH_SAYING.has(entry.level) ? String(entry.msg) : undefined;
  } catch {
    return line;
  }
};
