import { DAY } from './instant';

/** 1970-01-05, the first Monday of the epoch, in days. */
const FIRST_MONDAY = 4;
const WEEK_DAYS = 7;

/** Days since the epoch, UTC. */
export const dayOf = (instant: number): number => Math.floor(instant / DAY);

/** Weeks since the epoch, UTC; a week begins on Monday. */
export const weekOf = (instant: number): number => Math.floor((dayOf(instant) - FIRST_MONDAY) / WEEK_DAYS);

/** Months since the year 0, UTC. */
export const monthOf = (instant: number): number => {
  const date = new Date(instant);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
};

/** The year, UTC. */
export const yearOf = (instant: number): number => new Date(instant).getUTCFullYear();

/** More months lead out of the years that dates can have, from any of them. */
const MAX_MONTHS = 120_000;

/** The instant so many months later, or earlier; a day that the month does not have becomes its last. */
export const addMonths = (instant: number, wanted: number): number => {
  const months = Math.max(-MAX_MONTHS, Math.min(wanted, MAX_MONTHS));
  const date = new Date(instant);
  const day = date.getUTCDate();
  date.setUTCMonth(date.getUTCMonth() + months, 1);
  const lastDay = new Date(date.getTime());
  lastDay.setUTCMonth(lastDay.getUTCMonth() + 1, 0);
  return date.setUTCDate(Math.min(day, lastDay.getUTCDate()));
};

/** Milliseconds since midnight, UTC. */
export const timeOfDay = (instant: number): number => instant - dayOf(instant) * DAY;
