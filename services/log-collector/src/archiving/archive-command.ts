import { type OpenedArchive } from './open-archive';
import { type ToolsConfig } from './open-tools';

/** Dependencies of a command. */
export interface CommandOptions {
  readonly opened: OpenedArchive;
  readonly config: ToolsConfig & { readonly archiveRetentionDays: number | undefined };
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Its arguments. */
  readonly args: readonly string[];
  readonly say: (line: string) => void;
  /** Epoch ms. */
  readonly now: () => number;
  /** A signal that aborts when the command should stop. Commands that call this stop cleanly; all others end at once. */
  readonly interrupted: () => AbortSignal;
}

/** A command for operators; answers the exit code. */
export type ArchiveCommand = (options: CommandOptions) => Promise<number>;

/** Wrong usage of a command; the message shows the right one. */
export class CommandRefusal extends Error {
  override readonly name = 'CommandRefusal';
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;
/** Maximum number of days of one command. */
const MOST_DAYS = 3_700;

/** The dates from one to another, both included. Throws `CommandRefusal` with the usage for invalid dates. */
export const readDates = (from: string | undefined, to: string | undefined, usage: string): readonly string[] => {
  const [first, last] = [from, to].map((date) => {
    const time = date !== undefined && DATE.test(date) ? Date.parse(`${date}T00:00:00Z`) : NaN;
    if (Number.isNaN(time)) throw new CommandRefusal(`--from and --to are dates (YYYY-MM-DD). Usage: ${usage}.`);
    return time;
  }) as [number, number]; // two, as above
  const days = (last - first) / DAY_MS + 1;
  if (days < 1 || days > MOST_DAYS)
    throw new CommandRefusal(`--from is before --to, by ${MOST_DAYS} days at most. Usage: ${usage}.`);
  return Array.from({ length: days }, (_, day) => new Date(first + day * DAY_MS).toISOString().slice(0, 10));
};
