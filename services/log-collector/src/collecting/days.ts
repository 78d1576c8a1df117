import {
  type Database,
  dropDecisionDay,
  forgetQuarantined,
  forgetSequences,
  listDecisionDays,
  makeDecisionDay,
} from '@decision/persistence';

const DAY_MS = 86_400_000;
/** Number of future days with a partition. */
const DAYS_AHEAD = 2;
/** Maximum rows about producers' messages that one round of upkeep deletes. */
const MOST_FORGOTTEN = 100_000;
/** Maximum partitions that one round of upkeep drops. */
const MOST_DROPPED = 100;

/** The day of a moment, `YYYY-MM-DD` in UTC. */
export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** What happens to a record of a day: it is kept, it has expired, or its clock is ahead by more than a day. */
type DayOutcome = 'kept' | 'expired' | 'future';

interface LogDaysOptions {
  readonly database: Pick<Database, 'lookUp'>;
  readonly retentionDays: number;
  /** Epoch ms. */
  readonly now: () => number;
}

/** Result of a round of upkeep. */
interface UpkeepRound {
  /** Days whose partitions were dropped. */
  readonly dropped: readonly string[];
}

/** The days of the log table. */
export interface LogDays {
  /** What happens to records of a day. */
  outcomeOf(day: string): DayOutcome;
  /** Makes missing partitions of days that are kept. */
  ensure(days: Iterable<string>): Promise<void>;
  /** Forgets the known partitions, since another process has dropped one. */
  forget(): void;
  /** Makes partitions ahead, drops those of expired days, and deletes quarantined messages of the same age. */
  upkeep(): Promise<UpkeepRound>;
}

/** Manages the partitions of the log table (docs/adr/0049-decisions-are-kept-in-days.md). Any number of processes may do so. */
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
