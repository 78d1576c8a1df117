import { createHash } from 'node:crypto';
import { type Change } from './change';

/** Replacement of a secret. */
export const HIDDEN = '[hidden]';

/** Names of secrets, in any case and with any separators between the words. */
const SECRET_NAME =
  /secret|passw(or)?d|passphrase|token|api[-_. ]?key|private[-_. ]?key|credential|authorization|connection[-_. ]?string|cookie/i;

/** An API key of this service, a bearer token of three parts, and the password inside an address. */
const SECRET_TEXT: readonly (readonly [RegExp, string])[] = [
  [/dsk_[0-9a-z]{12}_[\w-]{43}/g, HIDDEN],
  [/\beyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*/g, HIDDEN],
  [/\/\/([^\s/:@]{0,100}):[^\s/@]{1,500}@/g, `//$1:${HIDDEN}@`],
];

/** Levels that are searched; deeper content is hidden completely. */
const MAX_DEPTH = 60;

/** Whether a name is taken for that of a secret. */
const looksSecret = (name: string): boolean => SECRET_NAME.test(name);

/** A copy in which everything that looks like a secret, by its field name or its form, is replaced by {@link HIDDEN}. */
export const maskSecrets = (value: unknown, depth = 0): unknown => {
  if (typeof value === 'string') return maskText(value);
  if (value === null || typeof value !== 'object') return value;
  if (depth >= MAX_DEPTH) return HIDDEN;
  if (Array.isArray(value)) return value.map((item) => maskSecrets(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      field !== null && looksSecret(name) ? HIDDEN : maskSecrets(field, depth + 1),
    ]),
  );
};

const maskText = (text: string): string =>
  SECRET_TEXT.reduce((masked, [pattern, replacement]) => masked.replace(pattern, replacement), text);

/** A field above this size is stored as its size and hash, bytes of JSON. */
const MAX_FIELD_BYTES = 64 * 1024;
/** A longer name is cut, characters. */
const MAX_NAME_LENGTH = 500;
/** Fields that differ with every change and add nothing to the entry. */
const BOOKKEEPING: ReadonlySet<string> = new Set(['updatedAt', 'updatedBy', 'createdAt', 'createdBy']);

/** A change in the form of its row: documents as JSON text, null if there is none. */
interface StoredChange {
  readonly kind: string;
  readonly action: string;
  readonly id: string;
  readonly name: string;
  readonly userGroups: readonly string[];
  /** Null if no other thing is named. */
  readonly otherGroups: readonly string[] | null;
  readonly before: string | null;
  readonly after: string | null;
}

/** The stored form of a change: only fields that differ, without secrets and without large fields. */
export const toStoredChange = ({ before, after, ...change }: Change): StoredChange => {
  const [was, is] = [fieldsOf(before), fieldsOf(after)];
  const names = was && is ? differing(was, is) : undefined;
  const secret = looksSecret(change.name);
  return {
    kind: change.kind,
    action: change.action,
    id: storable(change.id),
    name: storable(change.name),
    userGroups: (change.userGroups ?? []).map(asText),
    otherGroups: change.otherGroups?.map(asText) ?? null,
    before: was && write(was, names, secret),
    after: is && write(is, names, secret),
  };
};

/** Each field as JSON text. */
type Fields = ReadonlyMap<string, string>;

const fieldsOf = (document: object | null | undefined): Fields | null => {
  if (document === null || document === undefined) return null;
  const texts = Object.entries(document).map(([name, value]) => [name, JSON.stringify(value) as string | undefined] as const); // prettier-ignore
  return new Map(
    texts.filter((field): field is readonly [string, string] => !BOOKKEEPING.has(field[0]) && field[1] !== undefined),
  );
};

const differing = (was: Fields, is: Fields): ReadonlySet<string> =>
  new Set([...was.keys(), ...is.keys()].filter((name) => was.get(name) !== is.get(name)));

/** `secret`: the field has the name of a secret, so its content is one. */
const write = (fields: Fields, names: ReadonlySet<string> | undefined, secret: boolean): string => {
  const written: Record<string, unknown> = Object.create(null) as Record<string, unknown>; // a field may be called __proto__
  for (const [name, text] of fields) {
    if (names !== undefined && !names.has(name)) continue;
    written[name] = looksSecret(name) || (secret && isContent(name)) ? HIDDEN : writeField(text);
  }
  return JSON.stringify(written);
};

const isContent = (name: string): boolean => name === 'content' || name === 'value';

const writeField = (text: string): unknown => {
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_FIELD_BYTES) return maskSecrets(JSON.parse(text));
  return { omitted_bytes: bytes, sha256: createHash('sha256').update(text).digest('hex') };
};

/** Text in a form that the database accepts: without U+0000, and with the replacement character for each half of a character. */
const storable = (text: string): string => asText(text.slice(0, MAX_NAME_LENGTH));

const asText = (text: string): string => Buffer.from(text).toString().replaceAll('\u0000', '\ufffd');
