export {
  addMonths,
  civilDayOf,
  DAY,
  dayNumberOf,
  dayOf,
  EARLIEST,
  HOUR,
  isInstant,
  LATEST,
  MINUTE,
  monthOf,
  monthsBetween,
  MOST_MONTHS,
  SECOND,
  timeOfDay,
  weekdayOf,
  weekOf,
  yearOf,
} from './calendar';
export { lengthOfText, sliceText } from './code-points';
export { areEqual, areEqualBy, type Comparison } from './equality';
export { finderOf, type HoldsText, searchFor } from './find-text';
export { instantOf } from './instant';
export { formatDate, parseIsoDate, readIsoDate } from './iso-date';
export { isList, isMissing, isPlainObject, type PlainObject } from './kind';
