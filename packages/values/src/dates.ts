/** Milliseconds. */
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** A day of the Gregorian calendar. */
interface CivilDay {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  /** 1 to 31. */
  readonly day: number;
}

/** The years 0000 to 9999, UTC: those that ISO 8601 writes with four digits. Epoch milliseconds, inclusive. */
export const EARLIEST = -62_167_219_200_000;
export const LATEST = 253_402_300_799_999;

/** Whether epoch milliseconds are within the range of dates. False for NaN. */
export const isInstant = (moment: number): boolean => moment >= EARLIEST && moment <= LATEST;

const DAYS_PER_ERA = 146_097;
const DAYS_TO_EPOCH = 719_468;

const isLeapYear = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

const MONTH_LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

export const daysInMonth = (year: number, month: number): number =>
  month === 2 && isLeapYear(year) ? 29 : (MONTH_LENGTHS[month - 1] ?? 0);

/** Days of a year of 365 days before each month. */
const DAYS_BEFORE_MONTH = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
/** From 0000-01-01 to 1970-01-01. */
const DAYS_BEFORE_1970 = 719_528;
/** Leap years among the 400 that the count of leap years begins with, so that year 0 counts none. */
const LEAP_YEARS_BEFORE = 96;

/** Days since 1970-01-01 of a day in the years 0 to 9999. In 32-bit integers: it runs for each date of each input. */
export const dayNumberOf = ({ year, month, day }: CivilDay): number => {
  const counted = (year + 399) | 0;
  const leapYears = (counted >> 2) - ((counted / 100) | 0) + ((counted / 400) | 0) - LEAP_YEARS_BEFORE;
  const leapDay = month > 2 && isLeapYear(year) ? 1 : 0;
  return year * 365 + leapYears + (DAYS_BEFORE_MONTH[month - 1] ?? 0) + leapDay + day - 1 - DAYS_BEFORE_1970;
};

/** The calendar day of a moment, UTC. */
export const civilDayOf = (moment: number): CivilDay => {
  const shifted = Math.floor(moment / DAY) + DAYS_TO_EPOCH;
  const era = Math.floor(shifted / DAYS_PER_ERA);
  const dayOfEra = shifted - era * DAYS_PER_ERA;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return { year, month, day: dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1 };
};

/** 1970-01-05, the first Monday of the epoch, in days. */
const FIRST_MONDAY = 4;
const WEEK_DAYS = 7;

/** Days since the epoch, UTC. */
export const dayOf = (moment: number): number => Math.floor(moment / DAY);

/** Weeks since the epoch, UTC; a week begins on Monday. */
export const weekOf = (moment: number): number => Math.floor((dayOf(moment) - FIRST_MONDAY) / WEEK_DAYS);

/** Months since the year 0, UTC. */
export const monthOf = (moment: number): number => {
  const { year, month } = civilDayOf(moment);
  return year * 12 + month - 1;
};

/** The year, UTC. */
export const yearOf = (moment: number): number => civilDayOf(moment).year;

/** Milliseconds since midnight, UTC. */
export const timeOfDay = (moment: number): number => moment - dayOf(moment) * DAY;

/** 0 is Sunday. */
export const weekdayOf = (moment: number): number => (((dayOf(moment) + 4) % 7) + 7) % 7;

/** Ten thousand years: more months leave the calendar from any of its moments. */
export const MOST_MONTHS = 120_000;

/** The moment some months later or earlier, at most {@link MOST_MONTHS}; a day that the month does not have becomes its last day. */
export const addMonths = (moment: number, wanted: number): number => {
  const months = Math.max(-MOST_MONTHS, Math.min(wanted, MOST_MONTHS));
  const whole = Math.floor(moment);
  // The platform's dates are three times as fast as arithmetic on civil days, but do not support fractions of a millisecond.
  const date = new Date(whole);
  const day = date.getUTCDate();
  date.setUTCMonth(date.getUTCMonth() + months, 1);
  const lastDay = new Date(date.getTime());
  lastDay.setUTCMonth(lastDay.getUTCMonth() + 1, 0);
  return date.setUTCDate(Math.min(day, lastDay.getUTCDate())) + (moment - whole);
};

/** The most months that can be added to the first moment without passing the second; negative when the second is earlier. */
export const monthsBetween = (from: number, to: number): number => {
  if (to < from) return 0 - monthsBetween(to, from);
  const start = civilDayOf(from);
  const end = civilDayOf(to);
  const months = (end.year - start.year) * 12 + end.month - start.month;
  return addMonths(from, months) > to ? months - 1 : months;
};

/** Longer strings are not dates. */
const LONGEST = 40;

const ISO_DATE =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/** An ISO 8601 date as {@link readIsoDate} reads it, in the years 0000 to 9999, UTC; undefined for every other string. */
export const parseIsoDate = (text: string): number | undefined => {
  const moment = readIsoDate(text);
  return moment !== undefined && isInstant(moment) ? moment : undefined;
};

/**
 * Reads an ISO 8601 date: `2024-05-01`, `2024-05-01T10:30`, with seconds, with fractions (cut to milliseconds), with `Z` or an offset of at
 * most 14 hours; a space may stand for the `T`. Without a zone it is UTC. Answers epoch milliseconds, or undefined if the string is not a
 * date or the day or time does not exist. An offset may lead out of the range of dates ({@link isInstant}).
 */
export const readIsoDate = (text: string): number | undefined => {
  const match = text.length <= LONGEST ? ISO_DATE.exec(text) : null;
  if (match === null) return undefined;
  const part = (group: number): number => Number(match[group] ?? 0);
  const [year, month, day] = [part(1), part(2), part(3)];
  const [hours, minutes, seconds] = [part(4), part(5), part(6)];
  const milliseconds = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3));
  const offset = parseOffset(match[8] ?? 'Z');
  const exists = month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
  if (!exists || hours > 23 || minutes > 59 || seconds > 59 || offset === undefined) return undefined;
  const midnight = dayNumberOf({ year, month, day }) * DAY;
  return midnight + hours * HOUR + minutes * MINUTE + seconds * SECOND + milliseconds - offset;
};

const parseOffset = (text: string): number | undefined => {
  if (text.toUpperCase() === 'Z') return 0;
  const minutes = Number(text.slice(1, 3)) * 60 + Number(text.slice(3).replace(':', ''));
  if (Number(text.slice(-2)) > 59 && text.length > 3) return undefined;
  if (minutes > 14 * 60) return undefined;
  return (text.startsWith('-') ? -1 : 1) * minutes * MINUTE;
};

const TOKENS = /YYYY|MM|DD|HH|mm|ss|SSS/g;

/** ISO 8601 with milliseconds, UTC. */
const ISO_FORMAT = 'YYYY-MM-DDTHH:mm:ss.SSSZ';

/** Writes a moment, UTC: YYYY, MM, DD, HH (00 to 23), mm, ss and SSS are replaced, everything else is kept. */
export const formatDate = (moment: number, format: string = ISO_FORMAT): string => {
  const { year, month, day } = civilDayOf(moment);
  const time = Math.floor(timeOfDay(moment));
  const parts: Readonly<Record<string, number>> = {
    YYYY: year,
    MM: month,
    DD: day,
    HH: Math.floor(time / HOUR),
    mm: Math.floor(time / MINUTE) % 60,
    ss: Math.floor(time / SECOND) % 60,
    SSS: time % SECOND,
  };
  return format.replace(TOKENS, (token) => String(parts[token]).padStart(token.length, '0'));
};

/** An instant in epoch ms; NaN for anything else: another type, text that is not an ISO 8601 date, a year beyond 9999. */
export const instantOf = (value: unknown): number => {
  if (typeof value === 'string') return parseInstant(value);
  if (typeof value === 'number' && isInstant(value)) return value;
  return Number.NaN;
};

const ZERO = 48;
const DASH = 45;
const COLON = 58;
const DOT = 46;
const LETTER_T = 84;
const LETTER_Z = 90;
/** Lengths of `YYYY-MM-DD`, `YYYY-MM-DDTHH:mm:ssZ` and `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
const DATE_LENGTH = 10;
const SECONDS_LENGTH = 20;
const MILLISECONDS_LENGTH = 24;

/** The three usual forms are parsed directly, five times as fast as by the general parser. */
const parseInstant = (text: string): number => {
  const { length } = text;
  if (length !== DATE_LENGTH && length !== SECONDS_LENGTH && length !== MILLISECONDS_LENGTH) return parseAny(text);
  const day = dayStart(text);
  if (day !== day) return parseAny(text);
  if (length === DATE_LENGTH) return day;
  if (text.charCodeAt(10) !== LETTER_T || text.charCodeAt(length - 1) !== LETTER_Z) return parseAny(text);
  const time = timeOf(text, length);
  return time === time ? day + time : parseAny(text);
};

const parseAny = (text: string): number => parseIsoDate(text) ?? Number.NaN;

/** An integer, so that sums stay integers: small enough that any sum with it is negative. */
const NO_DIGITS = -1_000_000;

/** Two digits at a position; {@link NO_DIGITS} if there are none. */
const twoDigits = (text: string, at: number): number => {
  const tens = text.charCodeAt(at) - ZERO;
  const ones = text.charCodeAt(at + 1) - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : NO_DIGITS;
};

const dayStart = (text: string): number => {
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  const isSpelt = text.charCodeAt(4) === DASH && text.charCodeAt(7) === DASH;
  if (!isSpelt || year < 0 || month < 1 || month > 12 || day < 1) return Number.NaN;
  if (day > 28 && day > daysInMonth(year, month)) return Number.NaN;
  return dayNumberOf({ year, month, day }) * DAY;
};

const timeOf = (text: string, length: number): number => {
  const hours = twoDigits(text, 11);
  const minutes = twoDigits(text, 14);
  const seconds = twoDigits(text, 17);
  const isSpelt = text.charCodeAt(13) === COLON && text.charCodeAt(16) === COLON;
  if (!isSpelt || hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 59)
    return Number.NaN;
  const whole = hours * HOUR + minutes * MINUTE + seconds * SECOND;
  if (length === SECONDS_LENGTH) return whole;
  const last = text.charCodeAt(22) - ZERO;
  const thousandths = twoDigits(text, 20) * 10 + last;
  const isFraction = text.charCodeAt(19) === DOT && thousandths >= 0 && last >= 0 && last <= 9;
  return isFraction ? whole + thousandths : Number.NaN;
};
