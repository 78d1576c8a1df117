/** Replacement of a secret. */
export const HIDDEN = '[hidden]';

/** Names under which secrets are kept, in whatever case and with whatever between the words. */
const SECRET_NAME =
  /secret|passw(or)?d|passphrase|token|api[-_. ]?key|private[-_. ]?key|credential|authorization|connection[-_. ]?string|cookie/i;

/** An API key of this service, a bearer token of three parts, and the password inside an address. */
const SECRET_TEXT: readonly (readonly [RegExp, string])[] = [
  [/dsk_[0-9a-z]{12}_[\w-]{43}/g, HIDDEN],
  [/\beyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*/g, HIDDEN],
  [/\/\/([^\s/:@]{0,100}):[^\s/@]{1,500}@/g, `//$1:${HIDDEN}@`],
];

/** Levels that are looked into; what lies deeper is hidden whole. */
const MAX_DEPTH = 60;

/** Whether something of this name is taken for a secret. */
export const looksSecret = (name: string): boolean => SECRET_NAME.test(name);

/** A copy in which everything that looks like a secret, by the name of its field or by its form, is replaced by {@link HIDDEN}. */
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
