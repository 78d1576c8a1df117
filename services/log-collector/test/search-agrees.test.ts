import { type DecisionFilters, matches, parseSearch, type SearchedRecord } from '@decision/decision-logs';
import { readDecisionPage } from '@decision/persistence';
import fc from 'fast-check';
import { type CollectorUnderTest, logOf, messageOf, startCollectorUnderTest } from './collector-under-test';
import { document, search, texts } from './searches';

let collector: CollectorUnderTest;
beforeAll(async () => {
  collector = await startCollectorUnderTest('decision_searches');
}, 180_000);
afterAll(() => collector.stop());

const RECORDS = 120;
const SEARCHES = 600;
const seed = Number(process.env['TEST_SEED'] ?? 20_261_123);

it(`the database finds the same as the plain filter for ${SEARCHES} searches in ${RECORDS} records (seed ${seed})`, async () => {
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
  const reading = { withTraces: false, pageCharacters: 1e9, characters: 1e9 };
  const pageOf = (filters: DecisionFilters) =>
    collector.database.inWorkspace(collector.access, (transaction) =>
      readDecisionPage(transaction, filters, everything, reading),
    );
  const { items: all } = await pageOf({});
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
    const { shown: found } = await pageOf({ search: tree });
    expect({ text, found: found.map(({ id }) => id).sort() }).toEqual({ text, found: expected.sort() });
    if (expected.length === 0) none += 1;
    else some += 1;
  }
  // The searches are not trivial.
  expect(some).toBeGreaterThan(SEARCHES / 4);
  expect(none).toBeGreaterThan(SEARCHES / 20);
}, 120_000);
