import { type Validator } from '@decision/contracts';

/** A value and when it was loaded from the source of truth. */
export interface Stamped<T> {
  readonly value: T;
  /** When its load began, ms since the epoch, by the clock of the process that loaded it. */
  readonly loadedAt: number;
}

/**
 * How an entry looks in the shared cache: format, time, JSON; `c1 1763701200000 {"a":1}`. A new format is a new first word;
 * processes that do not know it take the entry for damaged and load again.
 */
const FORMAT = /^c1 (\d{1,16}) /;

/** A time this far ahead is no difference of clocks but damage, ms. */
const FUTURE_MS = 60_000;

/** The text of an entry; undefined where the value cannot be written as JSON. */
export const encodeEnvelope = ({ value, loadedAt }: Stamped<unknown>): string | undefined => {
  try {
    // JSON.stringify answers undefined for what has no JSON form, though its type does not say so.
    const json = JSON.stringify(value) as string | undefined;
    return json === undefined ? undefined : `c1 ${Math.floor(loadedAt)} ${json}`;
  } catch {
    return undefined;
  }
};

/** Reads an entry; undefined where anything about it is wrong. */
export const decodeEnvelope = <T>(text: string, validate: Validator<T>, now: number): Stamped<T> | undefined => {
  const header = FORMAT.exec(text);
  if (!header) return undefined;
  const loadedAt = Number(header[1]);
  if (loadedAt > now + FUTURE_MS) return undefined;
  try {
    const checked = validate(JSON.parse(text.slice(header[0].length)));
    return checked.ok ? { value: checked.value, loadedAt } : undefined;
  } catch {
    return undefined;
  }
};
