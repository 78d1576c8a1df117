import { checkDecisionLog, ServiceError, type SolutionRequestEnvelope } from '@decision/contracts';
import { createDecisionLog, recordText, solvedInput } from './decision-log';

const envelope: SolutionRequestEnvelope = {
  correlationId: 'c7',
  requester: 'gateway-1',
  replyPartition: 1,
  deadline: 2_000,
  kind: 'solve-list',
  workspaceId: 'w',
  versionId: 'v',
  receivedAt: Date.parse('2026-01-05T12:00:00Z'),
  explain: 'none',
  requestId: 'my "request"',
  traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
  origin: { keyId: 'k', slug: 'préis', selector: 'latest', firstIndex: 40 },
};
const solved = solvedInput(' {"weight": 2, "who": "é"} ', { ok: true, output: { price: 5 }, matched: [3] }, 12.6);
const failed = solvedInput('7', new ServiceError('input_not_object', 'No object.'), 1);
const broken = solvedInput('null', new ServiceError('invalid_json', 'No JSON.'), 1);

it('is a record that follows its schema, with requests and responses as they were', () => {
  const record = JSON.parse(recordText(envelope, [solved, failed, broken], 'worker-1')) as unknown;
  expect(checkDecisionLog(record)).toMatchObject({ ok: true });
  expect(record).toEqual({
    v: 1,
    id: 'gateway-1:c7',
    kind: 'rule',
    workspace_id: 'w',
    key_id: 'k',
    slug: 'préis',
    selector: 'latest',
    version_id: 'v',
    request_id: 'my "request"',
    trace_id: 'a'.repeat(32),
    received_at: '2026-01-05T12:00:00.000Z',
    worker: 'worker-1',
    items: [
      {
        index: 40,
        status: 'success',
        duration_us: 13,
        matched: [3],
        request: { weight: 2, who: 'é' },
        response: { price: 5 },
      },
      {
        index: 41,
        status: 'error',
        code: 'input_not_object',
        duration_us: 1,
        matched: [],
        request: 7,
        response: { error: 'No object.', code: 'input_not_object' },
      },
      {
        index: 42,
        status: 'error',
        code: 'invalid_json',
        duration_us: 1,
        matched: [],
        request: null,
        response: { error: 'No JSON.', code: 'invalid_json' },
      },
    ],
  });
});

describe('writing', () => {
  const run = (answer: ServiceError | undefined, writes: number, changes: Partial<SolutionRequestEnvelope> = {}) => {
    let time = 0;
    const submitted: string[] = [];
    const outcomes: [string, number][] = [];
    const warnings: unknown[] = [];
    const log = createDecisionLog({
      worker: 'worker-1',
      producer: {
        submit: ({ value }, settled) => {
          submitted.push(value.toString());
          settled(answer);
        },
      },
      log: { warn: (fields: unknown) => void warnings.push(fields) },
      onSettled: (outcome, decisions) => outcomes.push([outcome, decisions]),
      now: () => time,
    });
    for (let index = 0; index < writes; index += 1) {
      log.write({ ...envelope, ...changes }, [solved, failed]);
      expect(submitted).toHaveLength(index); // not before the answer has been handed over
      log.flush();
      time += 1_000;
      if (changes.origin === undefined && 'origin' in changes) return { submitted, outcomes, warnings };
    }
    return { submitted, outcomes, warnings };
  };

  it('counts what is stored', () => {
    const { submitted, outcomes, warnings } = run(undefined, 2);
    expect(submitted).toHaveLength(2);
    expect(outcomes).toEqual([
      ['stored', 2],
      ['stored', 2],
    ]);
    expect(warnings).toEqual([]);
  });

  it('counts what is dropped, and says so in one line for ten seconds', () => {
    const { outcomes, warnings } = run(new ServiceError('overloaded', 'Full.'), 12);
    expect(outcomes).toHaveLength(12);
    expect(outcomes.every(([outcome]) => outcome === 'dropped')).toBe(true);
    expect(warnings).toEqual([
      { dropped: 2, reason: 'overloaded' },
      { dropped: 20, reason: 'overloaded' },
    ]);
  });

  it('writes nothing for a request that does not say where it comes from', () => {
    expect(run(undefined, 1, { origin: undefined }).submitted).toEqual([]);
  });

  describe('gathers', () => {
    beforeEach(() => jest.useFakeTimers());
    afterEach(() => jest.useRealTimers());

    const gathering = () => {
      const submitted: string[] = [];
      const log = createDecisionLog({
        worker: 'worker-1',
        producer: { submit: ({ value }) => void submitted.push(value.toString()) },
        log: { warn: () => undefined },
        onSettled: () => undefined,
        now: Date.now,
      });
      return { submitted, log };
    };

    it('records for 25 ms, then hands everything over in order', () => {
      const { submitted, log } = gathering();
      for (let index = 0; index < 10; index += 1) log.write({ ...envelope, correlationId: `c${index}` }, [solved]);
      jest.advanceTimersByTime(24);
      expect(submitted).toEqual([]);
      jest.advanceTimersByTime(1);
      expect(submitted.map((text) => (JSON.parse(text) as { id: string }).id)).toEqual(
        Array.from({ length: 10 }, (_, index) => `gateway-1:c${index}`),
      );
      jest.advanceTimersByTime(1_000);
      expect(submitted).toHaveLength(10);
    });

    it.each([
      ['256 records', 256, ' '],
      ['a MiB of requests and responses', 2, ' '.repeat(1 << 19)],
    ])('no more than %s', (_bound, writes, padding) => {
      const { submitted, log } = gathering();
      const item = { ...solved, request: `{}${padding}` };
      for (let index = 1; index < writes; index += 1) log.write(envelope, [item]);
      jest.advanceTimersByTime(0);
      expect(submitted).toEqual([]);
      log.write(envelope, [item]);
      jest.advanceTimersByTime(0);
      expect(submitted).toHaveLength(writes);
    });
  });
});
