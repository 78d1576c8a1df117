import { contextLimits, type DerivedType, type FactType } from '@decision/contracts';
import { isInstant, parseIsoDate } from '@decision/values';
import { hasLoneSurrogate } from './facts';

const fits: Readonly<Record<FactType, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  boolean: (value) => typeof value === 'boolean',
  date: (value) =>
    typeof value === 'string' ? parseIsoDate(value) !== undefined : Number.isInteger(value) && isInstant(Number(value)),
  list: (value) => Array.isArray(value),
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

/** Whether a value is of a type; null has every type (C26, C27). */
export const fitsType = (value: unknown, type: FactType | DerivedType): boolean => value === null || fits[type](value);

/** Description of each type, as the end of a sentence. */
export const expectedOf: Readonly<Record<FactType, string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  date: 'an ISO 8601 date such as "2024-05-01" or "2024-05-01T10:30:00Z", or epoch milliseconds',
  list: 'a list',
  object: 'an object',
};

/** The type of a JSON value, for messages. */
export const kindOfValue = (value: unknown): string => {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
};

/** NUL, which the database's JSON cannot hold. */
const NUL = String.fromCharCode(0);

interface Level {
  readonly value: unknown;
  readonly depth: number;
}

/**
 * Why a JSON value cannot be stored, as the end of a sentence; undefined if it can (C25). Walks without recursion, since the value may nest
 * to any depth.
 */
export const faultOfStoring = (value: unknown): string | undefined => {
  const open: Level[] = [{ value, depth: 0 }];
  for (let level = open.pop(); level !== undefined; level = open.pop()) {
    const { depth } = level;
    if (typeof level.value === 'string' && isUnstorable(level.value)) return TEXT_FAULT;
    if (typeof level.value !== 'object' || level.value === null) continue;
    if (depth >= contextLimits.valueDepth) return `nests more than ${contextLimits.valueDepth} levels deep`;
    for (const [key, inner] of Object.entries(level.value)) {
      if (isUnstorable(key)) return TEXT_FAULT;
      open.push({ value: inner, depth: depth + 1 });
    }
  }
  return undefined;
};

const TEXT_FAULT = 'holds a NUL or half of a character, which cannot be stored';

const isUnstorable = (text: string): boolean => text.includes(NUL) || hasLoneSurrogate(text);
