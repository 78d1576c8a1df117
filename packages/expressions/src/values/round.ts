/** Up to this number and this many digits, a scaled number is exact enough to decide on which side of a half it lies. */
const QUICK_LIMIT = 1e9;
const QUICK_DIGITS = 6;
const NEAR_HALF = 1e-3;

/**
 * Rounds to decimal digits, halves away from zero. Works on the shortest decimal that stands for the number, so that 1.005 rounds to
 * 1.01 although its double lies below. Digits are whole, from -15 to 15.
 */
export const roundTo = (value: number, digits: number): number => {
  if (digits >= 0 && Number.isInteger(value)) return value;
  const magnitude = Math.abs(value);
  return Math.sign(value) * (roundQuickly(magnitude, digits) ?? roundDecimal(magnitude, digits));
};

/** By multiplication, if that cannot get the side of a half wrong; else undefined. */
const roundQuickly = (magnitude: number, digits: number): number | undefined => {
  if (digits < 0 || digits > QUICK_DIGITS) return undefined;
  const scale = 10 ** digits;
  const scaled = magnitude * scale;
  const distance = Math.abs(scaled - Math.floor(scaled) - 0.5);
  return scaled < QUICK_LIMIT && distance > NEAR_HALF ? Math.round(scaled) / scale : undefined;
};

const roundDecimal = (magnitude: number, digits: number): number => {
  const rounded = shiftPoint(Math.round(shiftPoint(magnitude, digits)), -digits);
  // Shifted by this many digits, or rounded up, the largest numbers would become infinite; they have no digits after the point.
  return Number.isFinite(rounded) ? rounded : magnitude;
};

/** Further digits after the point are not counted; ten to the power of this is exact. */
const MOST_PLACES = 15;

/**
 * Number of digits to shift the point so that some decimals, as written, become whole numbers; 0 if these would have too many digits to be
 * exact.
 */
export const sharedPlaces = (values: readonly number[]): number => {
  const places = Math.max(...values.map(placesOf));
  return places <= MOST_PLACES && values.every((value) => Number.isSafeInteger(shiftPoint(value, places))) ? places : 0;
};

/** Digits after the point of the shortest decimal for a number. */
const placesOf = (value: number): number => {
  if (Number.isInteger(value)) return 0;
  const [significand = '', exponent = '0'] = String(value).split('e');
  const point = significand.indexOf('.');
  return (point < 0 ? 0 : significand.length - point - 1) - Number(exponent);
};

/** The number times a power of ten, without the error of a multiplication. */
export const shiftPoint = (value: number, digits: number): number => {
  if (digits === 0) return value;
  const [significand = '', exponent = '0'] = String(value).split('e');
  return Number(`${significand}e${Number(exponent) + digits}`);
};
