import { Secret } from '@decision/flows';
import { isPlainObject } from '@decision/values';

const MASK = '[secret]';

/** The distinct secrets in a value. */
export const secretsIn = (value: unknown, found = new Set<Secret>()): ReadonlySet<Secret> => {
  if (value instanceof Secret) found.add(value);
  else if (Array.isArray(value)) for (const item of value) secretsIn(item, found);
  else if (isPlainObject(value)) for (const key of Object.keys(value)) secretsIn(value[key], found);
  return found;
};

/** Replaces secrets in texts and values. */
export interface Redactor {
  readonly text: (text: string) => string;
  /** A value without the secrets: in texts, names of members, and numbers that equal a secret. Copies only what has to change. */
  readonly value: (value: unknown) => unknown;
}

/** A redactor that changes nothing. */
const NOTHING: Redactor = { text: (text) => text, value: (value) => value };

/** A redactor of some secrets, in plain form and as JSON, addresses, XML and Base64 encode them. */
export const redactorOf = (secrets: Iterable<Secret>): Redactor => {
  const revealed = [...secrets].map((secret) => secret.reveal()).filter((text) => text !== '');
  if (revealed.length === 0) return NOTHING;
  // The longest first, so that a secret that contains another leaves no remainder.
  const forms = [...new Set(revealed.flatMap(formsOf))].sort((a, b) => b.length - a.length);
  const text = (from: string): string => forms.reduce((rest, form) => rest.replaceAll(form, MASK), from);
  return { text, value: (value) => redacted(value, text, new Set(revealed)) };
};

const formsOf = (secret: string): readonly string[] => {
  const bytes = Buffer.from(secret);
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    // Through bytes: a lone surrogate has no form in an address.
    encodeURIComponent(bytes.toString()),
    new URLSearchParams([['', secret]]).toString().slice(1),
    ...['&apos;', '&#39;', "'"].map((apostrophe) => asXml(secret, apostrophe)),
    bytes.toString('base64'),
    bytes.toString('base64url'),
  ];
};

const asXml = (text: string, apostrophe: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", apostrophe);

const redacted = (value: unknown, text: (from: string) => string, revealed: ReadonlySet<string>): unknown => {
  if (typeof value === 'string') return text(value);
  if (typeof value === 'number') return revealed.has(String(value)) ? MASK : value;
  if (Array.isArray(value)) {
    const items = value.map((item) => redacted(item, text, revealed));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isPlainObject(value)) return value;
  const entries = Object.entries(value);
  const clean = entries.map(([key, member]) => [text(key), redacted(member, text, revealed)] as const);
  const isClean = clean.every(([key, member], index) => key === entries[index]?.[0] && member === entries[index][1]);
  return isClean ? value : Object.fromEntries(clean);
};
