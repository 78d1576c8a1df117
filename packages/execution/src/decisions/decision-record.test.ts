import { type SolutionRequestEnvelope } from '@decision/contracts';
import fc from 'fast-check';
import { createRecordWriter } from './decision-record';
import { type SolvedInput } from './solved-input';

const item: SolvedInput = { request: '{"a":1}', result: '{"b":2}', error: undefined, matched: [0, 3], durationUs: 7.4 };
const ITEM = {
  ...{ index: 5, status: 200, duration_us: 7, matched: [0, 3] },
  ...{ request: { a: 1 }, response: { b: 2 } },
};

/** The record as JSON.stringify writes it. */
const expected = (envelope: SolutionRequestEnvelope, name: string, sequence: number): string => {
  const { requester, correlationId, asset, workspaceId, versionId, requestId, traceparent, receivedAt } = envelope;
  const { origin } = envelope;
  return JSON.stringify({
    ...{ v: 2, id: `${requester}:${correlationId}`, producer: name, sequence, kind: asset ?? 'rule' },
    ...{ workspace_id: workspaceId, key_id: origin?.keyId ?? '', asset_id: origin?.assetId ?? null },
    ...{ slug: origin?.slug ?? '', selector: origin?.selector ?? '', version_id: versionId },
    ...{ context: origin?.context ?? null, flow: origin?.flow ?? null, request_id: requestId },
    trace_id: traceparent === undefined ? null : traceparent.slice(3, 35),
    received_at: new Date(receivedAt).toISOString(),
    items: [ITEM],
  });
};

const few = fc.constantFrom('a', '"b"', 'é\n');
const maybe = fc.option(few, { nil: undefined });
const envelopes: fc.Arbitrary<SolutionRequestEnvelope> = fc.record({
  ...{ correlationId: fc.string(), requester: few, replyPartition: fc.constant(0), deadline: fc.constant(1) },
  ...{ kind: fc.constant('solve' as const), workspaceId: few, versionId: few, explain: fc.constant('none' as const) },
  asset: fc.constantFrom('rule' as const, 'flow' as const, undefined),
  receivedAt: fc.oneof(
    fc.integer({ min: 0, max: 3_000 }),
    fc.constantFrom(253_402_300_799_999, 8_640_000_000_000_000),
    fc.nat(),
  ),
  requestId: fc.string(),
  traceparent: fc.constantFrom(undefined, `00-${'a1'.repeat(16)}-${'b'.repeat(16)}-01`),
  origin: fc.record({
    ...{ keyId: few, slug: few, selector: few, firstIndex: fc.constant(5) },
    ...{ assetId: maybe, context: maybe, flow: maybe },
  }),
});

it('writes the same text as JSON.stringify, regardless of earlier records', () => {
  fc.assert(
    fc.property(fc.array(envelopes, { maxLength: 30 }), fc.string(), (all, name) => {
      const write = createRecordWriter(name);
      for (const [sequence, envelope] of all.entries())
        expect(write(envelope, [item], sequence)).toBe(expected(envelope, name, sequence));
    }),
  );
});

it('writes the last valid date for a later time', () => {
  const envelope = { receivedAt: Number.MAX_SAFE_INTEGER } as SolutionRequestEnvelope; // nothing else is read
  expect(createRecordWriter('w')(envelope, [item], 0)).toContain('"received_at":"+275760-09-13T00:00:00.000Z"');
});
