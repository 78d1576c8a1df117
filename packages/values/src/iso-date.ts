import { civilDayOf, DAY, daysInMonth, dayNumberOf, HOUR, isInstant, MINUTE, SECOND, timeOfDay } from './calendar';

/** Longer strings are no dates. */
const LONGEST = 40;

const ISO_DATE =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/** An ISO 8601 date as {@link readIsoDate} reads it, of the years 0000 to 9999, UTC; undefined for every other string. */
export const parseIsoDate = (text: string): number | undefined => {
  const moment = readIsoDate(text);
  return moment !== undefined && isInstant(moment) ? moment : undefined;
};

/**
 * Reads an ISO 8601 date: `2024-05-01`, `2024-05-01T10:30`, with seconds, with fractions (cut to milliseconds), with `Z` or an
 * offset of at most 14 hours; a space may stand for the `T`. Without a zone it is UTC. Answers epoch milliseconds, or undefined where
 * the string is no date or the day or time does not exist. An offset may lead out of the years that dates have ({@link isInstant}).
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

/** Writes a moment, UTC: YYYY, MM, DD, HH (00 to 23), mm, ss and SSS are replaced, all else stays. */
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
