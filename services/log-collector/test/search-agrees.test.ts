import { matches, parseSearch, type SearchedRecord } from '@decision/decision-logs';
import { findDecisions, readDecisions } from '@decision/persistence';
import fc from 'fast-check';
import { type CollectorUnderTest, logOf, messageOf, startCollectorUnderTest } from './collector-under-test';

let collector: CollectorUnderTest;
beforeAll(async () => {
  collector = await startCollectorUnderTest('decision_searches');
}, 180_000);
afterAll(() => collector.stop());

const texts = [
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
const document = fc.dictionary(fc.constantFrom('a', 'b', '0', '$'), value, { maxKeys: 4 });

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
const search = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.tuple(field, operator, literal).map((parts) => parts.join(' ')),
    fc.tuple(field, operator, literal).map((parts) => parts.join(' ')),
    literal.filter((text) => text !== '""'),
    fc.array(tie('any'), { minLength: 1, maxLength: 3 }).map((parts) => `(${parts.join(' AND ')})`),
    fc.array(tie('any'), { minLength: 1, maxLength: 3 }).map((parts) => `(${parts.join(' OR ')})`),
  ),
})).any;

const RECORDS = 120;
const SEARCHES = 600;
const seed = Number(process.env['TEST_SEED'] ?? 20_261_123);

it(`the database finds what the plain filter finds, of ${SEARCHES} searches in ${RECORDS} records (seed ${seed})`, async () => {
  const { workspaceId } = collector.access;
  const documents = fc.sample(fc.tuple(document, document, fc.nat(2)), { numRuns: RECORDS, seed });
  await collector.store(
    ...documents.map(([request, response, kind], n) =>
      messageOf(
        logOf(
          workspaceId,
          [
            {
            ...(n % 4 === 0 ? n % 8 === 0 ? { status: 413, code: 'payload_too_large' } : { status: 422, code: 'evaluation_failed' } : {}),
            ...(n % 5 === 0 ? { instance: texts[n % texts.length] ?? '', execution_id: n.toString(16).padStart(32, '0') } : {}),
            ...{ request, response, duration_us: n * 500 },
          }, // prettier-ignore
          ],
          {
            kind: kind === 0 ? 'flow' : 'rule',
            slug: n % 2 === 0 ? 'price' : 'Gold-tier',
            request_id: `r${n}`,
            ...(n % 5 === 0 ? { context: 'Gold', flow: n % 2 === 0 ? null : 'price' } : {}),
          },
        ),
      ),
    ),
  );
  const everything = { sort: 'time', isDescending: true, after: undefined, limit: 1_000 } as const;
  const all = await collector.database.inWorkspace(collector.access, async (transaction) => {
    const found = await findDecisions(transaction, {}, everything);
    return readDecisions(transaction, found, {}, { withTraces: false, characters: 1e9 });
  });
  expect(all).toHaveLength(RECORDS);
  const searched = all.map((item): { readonly id: string; readonly record: SearchedRecord } => ({
    id: item.id,
    record: {
      ...{ name: item.slug, type: item.kind, selector: item.selector, error: item.errorCode, trace_id: item.traceId },
      ...{ execution_id: item.executionId, request_id: item.requestId, key_id: item.keyId, status: item.status },
      ...{ context: item.contextSlug, instance: item.instance, flow: item.flowSlug },
      ...{ duration: item.durationUs / 1_000, request: item.request, response: item.response },
    },
  }));
  let [some, none] = [0, 0];
  for (const text of fc.sample(search, { numRuns: SEARCHES, seed })) {
    const tree = parseSearch(text);
    if (tree === undefined) continue;
    const expected = searched.filter(({ record }) => matches(tree, record)).map(({ id }) => id);
    const found = await collector.database.inWorkspace(collector.access, (transaction) =>
      findDecisions(transaction, { search: tree }, everything),
    );
    expect({ text, found: found.map(({ id }) => id).sort() }).toEqual({ text, found: expected.sort() });
    if (expected.length === 0) none += 1;
    else some += 1;
  }
  // The searches are no trivial ones.
  expect(some).toBeGreaterThan(SEARCHES / 4);
  expect(none).toBeGreaterThan(SEARCHES / 20);
}, 120_000);
