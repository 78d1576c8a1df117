import { type ScheduleWindow } from '@decision/contracts';

/** Whether a row is in force at an instant, epoch ms. */
export type CompiledSchedule = (now: number) => boolean;

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
const DAY_MS = DAY_MINUTES * MINUTE_MS;
/** The first day of the epoch was a Thursday. */
const EPOCH_DAY = 4;

interface Window {
  readonly days: ReadonlySet<number>;
  /** Minutes of the day; the start belongs to the window, the end does not. */
  readonly start: number;
  readonly end: number;
}

/**
 * Windows of days (0 is Sunday) and times, all UTC; one of them suffices. No windows: always in force. A window whose end lies
 * before its start goes on past midnight and belongs to the day on which it began. Equal start and end mean the whole day.
 */
export const compileSchedule = (
  windows: readonly ScheduleWindow[] | null | undefined,
): CompiledSchedule | undefined => {
  if (windows === null || windows === undefined || windows.length === 0) return undefined;
  const compiled = windows.map(toWindow);
  return (now) => {
    const day = (Math.floor(now / DAY_MS) + EPOCH_DAY) % 7;
    const minute = Math.floor((now - Math.floor(now / DAY_MS) * DAY_MS) / MINUTE_MS);
    return compiled.some((window) => covers(window, day, minute));
  };
};

const ALL_DAYS: ReadonlySet<number> = new Set([0, 1, 2, 3, 4, 5, 6]);

const toWindow = ({ days, start, end }: ScheduleWindow): Window => ({
  days: days === undefined ? ALL_DAYS : new Set(days),
  start: minutesOf(start ?? '00:00'),
  end: minutesOf(end ?? '24:00'),
});

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));

const covers = ({ days, start, end }: Window, day: number, minute: number): boolean => {
  if (start === end) return days.has(day);
  if (start < end) return days.has(day) && minute >= start && minute < end;
  return (days.has(day) && minute >= start) || (days.has((day + 6) % 7) && minute < end);
};
