import fc from 'fast-check';

/** Texts of documents and searches. */
export const texts = [
  'gold',
  'Gold',
  'go',
  '',
  'a"b',
  'a\\b',
  'é',
  'É',
  '12',
  'true',
  'null',
  '%_',
  "o'clock",
  '😀',
  'Z',
  'line\nbreak',
];
const numbers = [0, 12, -3, 12.5, 120, 1e6, 0.1];
const leaf = fc.oneof(fc.constantFrom(...texts), fc.constantFrom(...numbers), fc.boolean(), fc.constant(null));
const value = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'a b', '0', '$', '__proto'), tie('any'), { maxKeys: 3 }),
  ),
})).any;
/** A request or response of any shape. */
export const document = fc.dictionary(fc.constantFrom('a', 'b', '0', '$'), value, { maxKeys: 4 });

const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;
const literal = fc.oneof(
  fc.constantFrom(...texts).map(quoted),
  fc.constantFrom(...numbers).map(String),
  fc.constantFrom('true', 'false', 'null', 'gold', 'price', 'o', '12.0'),
);
const field = fc.oneof(
  fc.constantFrom(
    'name',
    'type',
    'selector',
    'error',
    'status',
    'duration',
    'request_id',
    'key_id',
    'trace_id',
    'context',
    'instance',
    'flow',
  ),
  fc
    .tuple(
      fc.constantFrom('request', 'response'),
      fc.array(fc.constantFrom('a', 'b', '0', '$'), { minLength: 1, maxLength: 3 }),
    )
    .map(([of, path]) => [of, ...path].join('.')),
);
const operator = fc.constantFrom('=', '!=', '>', '>=', '<', '<=', ':', '!:');
/** A search, as a person may write it. */
export const search = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.tuple(field, operator, literal).map((parts) => parts.join(' ')),
    fc.tuple(field, operator, literal).map((parts) => parts.join(' ')),
    literal.filter((text) => text !== '""'),
    fc.array(tie('any'), { minLength: 1, maxLength: 3 }).map((parts) => `(${parts.join(' AND ')})`),
    fc.array(tie('any'), { minLength: 1, maxLength: 3 }).map((parts) => `(${parts.join(' OR ')})`),
  ),
})).any;
