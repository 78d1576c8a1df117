import {
  type Database,
  dropDecisionDay,
  forgetQuarantined,
  forgetSequences,
  listDecisionDays,
  makeDecisionDay,
} from '@decision/persistence';

const DAY_MS = 86_400_000;
/** Days after today that have a partition before they begin. */
const DAYS_AHEAD = 2;
/** Rows about messages of producers that one round of upkeep forgets at most. */
const MOST_FORGOTTEN = 100_000;
/** Partitions that one round of upkeep drops at most. */
const MOST_DROPPED = 100;

/** The day of a moment, `YYYY-MM-DD` in UTC. */
export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** What becomes of a record of a day: it is kept, it is older than what is kept, or its clock is ahead by more than a day. */
type DayOutcome = 'kept' | 'expired' | 'future';

interface LogDaysOptions {
  readonly database: Pick<Database, 'lookUp'>;
  readonly retentionDays: number;
  /** Epoch ms. */
  readonly now: () => number;
}

/** What a round of upkeep did. */
interface UpkeepRound {
  /** Days whose partitions were dropped. */
  readonly dropped: readonly string[];
}

/** The days of the log table. */
export interface LogDays {
  /** What becomes of records of a day. */
  outcomeOf(day: string): DayOutcome;
  /** Makes the partitions of days that are kept, where they are missing. */
  ensure(days: Iterable<string>): Promise<void>;
  /** Forgets which partitions there are: somebody else has dropped one. */
  forget(): void;
  /** Makes partitions ahead, drops those of days that are no longer kept, and forgets what was set apart as long ago. */
  upkeep(): Promise<UpkeepRound>;
}

/** Follows the partitions of the log table. Any number of processes may. */
export const createLogDays = ({ database, retentionDays, now }: LogDaysOptions): LogDays => {
  let known: ReadonlySet<string> | undefined;
  const oldestKept = (): string => dayOf(now() - (retentionDays - 1) * DAY_MS);
  const ensure = async (days: Iterable<string>): Promise<void> => {
    known ??= await listDecisionDays(database);
    for (const day of new Set(days)) {
      if (known.has(day)) continue;
      await makeDecisionDay(database, day);
      known = new Set([...known, day]);
    }
  };
  return {
    outcomeOf: (day) => {
      if (day < oldestKept()) return 'expired';
      return day > dayOf(now() + DAY_MS) ? 'future' : 'kept';
    },
    ensure,
    forget: () => {
      known = undefined;
    },
    upkeep: async () => {
      known = undefined;
      await ensure(Array.from({ length: DAYS_AHEAD + 1 }, (_, ahead) => dayOf(now() + ahead * DAY_MS)));
      const dropped: string[] = [];
      while (dropped.length < MOST_DROPPED) {
        const day = await dropDecisionDay(database, oldestKept());
        if (day === null) break;
        dropped.push(day);
      }
      await forgetQuarantined(database, retentionDays);
      await forgetSequences(database, `${oldestKept()}T00:00:00Z`, MOST_FORGOTTEN);
      return { dropped };
    },
  };
};
