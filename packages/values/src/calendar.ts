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

/** The years 0000 to 9999, UTC: what ISO 8601 writes with four digits. Epoch milliseconds, both ends included. */
export const EARLIEST = -62_167_219_200_000;
export const LATEST = 253_402_300_799_999;

/** Whether a number of epoch milliseconds is one that a date can be. False for NaN. */
export const isInstant = (moment: number): boolean => moment >= EARLIEST && moment <= LATEST;

const DAYS_PER_ERA = 146_097;
const DAYS_TO_EPOCH = 719_468;

const isLeapYear = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

const MONTH_LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

export const daysInMonth = (year: number, month: number): number =>
  month === 2 && isLeapYear(year) ? 29 : (MONTH_LENGTHS[month - 1] ?? 0);

/** Days since 1970-01-01. Counts years from March in eras of 400 years, so that a leap day ends its year. */
export const dayNumberOf = ({ year, month, day }: CivilDay): number => {
  const marchYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * DAYS_PER_ERA + dayOfEra - DAYS_TO_EPOCH;
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

/** Ten thousand years: more months lead out of the calendar, from any of its moments. */
export const MOST_MONTHS = 120_000;

/** The moment some months later or earlier, at most {@link MOST_MONTHS}; a day that the month does not have becomes its last. */
export const addMonths = (moment: number, wanted: number): number => {
  const months = Math.max(-MOST_MONTHS, Math.min(wanted, MOST_MONTHS));
  const whole = Math.floor(moment);
  // The platform's dates take a third of the time of arithmetic on civil days, but no parts of a millisecond.
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
