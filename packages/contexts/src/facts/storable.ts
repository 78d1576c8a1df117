import { contextLimits } from '@decision/contracts';
import { hasLoneSurrogate } from './fact-name';

/** NUL, which the database's JSON cannot hold. */
const NUL = String.fromCharCode(0);

interface Level {
  readonly value: unknown;
  readonly depth: number;
}

/**
 * Why a JSON value cannot be stored, as the end of a sentence; undefined where it can (C25). Walks without recursion: the value may
 * nest to any depth.
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
