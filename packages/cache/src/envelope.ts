import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Validator } from '@decision/contracts';

/** A value and when it was loaded from the source of truth. */
export interface Stamped<T> {
  readonly value: T;
  /** When its load began, ms since the epoch, by the clock of the process that loaded it. */
  readonly loadedAt: number;
}

/** Signs the text of an entry together with its key, so that no entry passes under another key. */
export type Seal = (key: string, text: string) => Buffer;

/** A seal by HMAC-SHA-256. */
export const createSeal =
  (secret: Uint8Array): Seal =>
  (key, text) =>
    createHmac('sha256', secret).update(`${key.length} ${key} `).update(text).digest();

/**
 * Entries in the shared cache are text: a format, the time of the load, JSON; `c1 1763701200000 {"a":1}`. Processes that share a secret put
 * a signature in front: `s1 <base64url> 1763701200000 {"a":1}`. A party that can write to the cache but does not know the secret cannot
 * forge an entry. A new format is a new first word; processes that do not know it take the entry for damaged and load again.
 */
const PLAIN = /^c1 (\d{1,16}) /;
const SEALED = /^s1 ([\w-]{43}) (\d{1,16}) /;

/** A time this far ahead is damage rather than a difference of clocks, ms. */
const FUTURE_MS = 60_000;

/** The text of an entry; undefined if the value cannot be written as JSON. */
export const encodeEnvelope = (key: string, { value, loadedAt }: Stamped<unknown>, seal?: Seal): string | undefined => {
  try {
    // JSON.stringify answers undefined for values without a JSON form, though its type does not say so.
    const json = JSON.stringify(value) as string | undefined;
    if (json === undefined) return undefined;
    const content = `${Math.floor(loadedAt)} ${json}`;
    return seal ? `s1 ${seal(key, content).toString('base64url')} ${content}` : `c1 ${content}`;
  } catch {
    return undefined;
  }
};

/** How an entry is read. */
interface EnvelopeReader<T> {
  readonly validate: Validator<T>;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** If given, only entries with its signature are accepted. */
  readonly seal?: Seal | undefined;
}

/** Parses an entry; undefined if anything about it is wrong. */
export const decodeEnvelope = <T>(key: string, text: string, reader: EnvelopeReader<T>): Stamped<T> | undefined => {
  const header = reader.seal ? checkSeal(key, text, reader.seal) : PLAIN.exec(text);
  if (!header) return undefined;
  const loadedAt = Number(header.at(-1));
  if (loadedAt > reader.now + FUTURE_MS) return undefined;
  try {
    const checked = reader.validate(JSON.parse(text.slice(header[0].length)));
    return checked.ok ? { value: checked.value, loadedAt } : undefined;
  } catch {
    return undefined;
  }
};

const SIGNATURE_END = 's1 '.length + 43 + 1;

const checkSeal = (key: string, text: string, seal: Seal): RegExpExecArray | undefined => {
  const header = SEALED.exec(text);
  if (!header) return undefined;
  const signature = Buffer.from(header[1] ?? '', 'base64url');
  const expected = seal(key, text.slice(SIGNATURE_END));
  return signature.length === expected.length && timingSafeEqual(signature, expected) ? header : undefined;
};
