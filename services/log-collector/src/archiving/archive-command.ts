import { type ArchiveReading } from '@decision/decision-archive';

/** What a command works with. */
interface CommandOptions {
  readonly store: ArchiveReading['store'];
  /** Days that decisions are kept; undefined: for ever. */
  readonly retentionDays: number | undefined;
  /** What stands behind its name. */
  readonly args: readonly string[];
  readonly say: (line: string) => void;
  /** Epoch ms. */
  readonly now: () => number;
}

/** A command of operators; answers the exit code. */
export type ArchiveCommand = (options: CommandOptions) => Promise<number>;

/** A command was not called as it must be; the message says how. */
export class CommandRefusal extends Error {
  override readonly name = 'CommandRefusal';
}
