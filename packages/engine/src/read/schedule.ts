import { type ScheduleWindow } from '@decision/contracts';
import { DAY, MINUTE } from '@decision/values';
import { type TableLocation, type ProblemList } from '../rule-problem';

/** Whether a row is in force at an instant, epoch ms. */
export type Schedule = (now: number) => boolean;

const DAY_MINUTES = DAY / MINUTE;
const WEEK_DAYS = 7;
/** The first day of the epoch was a Thursday. */
const EPOCH_DAY = 4;

interface Window {
  readonly days: ReadonlySet<number>;
  /** Minutes of the day; the start belongs to the window, the end does not. */
  readonly start: number;
  readonly end: number;
}

/**
 * Windows of days (0 is Sunday) and times, all UTC; one matching window suffices. No windows: always in force. A window that ends before its
 * start continues past midnight and belongs to the day on which it started. Equal start and end mean the whole day.
 */
export const readSchedule = (
  windows: readonly ScheduleWindow[] | null | undefined,
  location: TableLocation,
  problems: ProblemList,
): Schedule | undefined => {
  if (windows === null || windows === undefined || windows.length === 0) return undefined;
  const read = windows.map((window, index) =>
    readWindow(window, { ...location, path: `${location.path}/${index}` }, problems),
  );
  return (now) => {
    const day = (((Math.floor(now / DAY) + EPOCH_DAY) % WEEK_DAYS) + WEEK_DAYS) % WEEK_DAYS;
    const minute = Math.floor((now - Math.floor(now / DAY) * DAY) / MINUTE);
    return read.some((window) => covers(window, day, minute));
  };
};

const ALL_DAYS: ReadonlySet<number> = new Set([0, 1, 2, 3, 4, 5, 6]);

const readWindow = ({ days, start, end }: ScheduleWindow, location: TableLocation, problems: ProblemList): Window => {
  if (days?.some((day) => !ALL_DAYS.has(day)) === true)
    problems.addFault('invalid_schedule', 'has a schedule with days that are not 0 (Sunday) to 6', location);
  return {
    days: days === undefined ? ALL_DAYS : new Set(days),
    start: readTime(start ?? '00:00', location, problems),
    end: readTime(end ?? '24:00', location, problems),
  };
};

const TIME = /^[0-9]{2}:[0-9]{2}$/;

const readTime = (text: string, location: TableLocation, problems: ProblemList): number => {
  const [hours, minutes] = TIME.test(text) ? [Number(text.slice(0, 2)), Number(text.slice(3))] : [Infinity, 0];
  const time = hours * 60 + minutes;
  if (minutes > 59 || time > DAY_MINUTES)
    problems.addFault('invalid_schedule', 'has a schedule with a time that is not 00:00 to 24:00', location);
  return time;
};

const covers = ({ days, start, end }: Window, day: number, minute: number): boolean => {
  if (start === end) return days.has(day);
  if (start < end) return days.has(day) && minute >= start && minute < end;
  return (days.has(day) && minute >= start) || (days.has((day + WEEK_DAYS - 1) % WEEK_DAYS) && minute < end);
};
