import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  checkDecisionLogV2,
  checkProducerReport,
  ServiceError,
  type SolutionRequestEnvelope,
} from '@decision/contracts';
import { createDecisionLog, putOnRecord, withoutDecisionLog } from './decision-log';
import { createRecordWriter } from './decision-record';
import { type LoggingPolicy, NOTHING_SHOWN } from './logging-policy';
import { solvedInput } from './solved-input';

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
  origin: {
    ...{ keyId: 'k', slug: 'préis', selector: 'latest', firstIndex: 40 },
    assetId: '5f9c1f4e-7f4b-4c55-8a49-2f7f0a8f1d11',
  },
};
const solved = solvedInput(' {"weight": 2, "who": "é"} ', { ok: true, output: { price: 5 }, matched: [3] }, 12.6);
const failed = solvedInput('7', new ServiceError('input_not_object', 'No object.'), 1);
const broken = solvedInput('null', new ServiceError('invalid_json', 'No JSON.'), 1);

it('writes a record that follows its schema, with unchanged requests and responses', () => {
  const record = JSON.parse(createRecordWriter('worker-1')(envelope, [solved, failed, broken], 6)) as unknown;
  expect(checkDecisionLogV2(record)).toMatchObject({ ok: true });
  expect(record).toEqual({
    v: 2,
    id: 'gateway-1:c7',
    producer: 'worker-1',
    sequence: 6,
    kind: 'rule',
    workspace_id: 'w',
    key_id: 'k',
    asset_id: '5f9c1f4e-7f4b-4c55-8a49-2f7f0a8f1d11',
    slug: 'préis',
    selector: 'latest',
    version_id: 'v',
    context: null,
    flow: null,
    request_id: 'my "request"',
    trace_id: 'a'.repeat(32),
    received_at: '2026-01-05T12:00:00.000Z',
    items: [
      {
        index: 40,
        status: 200,
        duration_us: 13,
        matched: [3],
        request: { weight: 2, who: 'é' },
        response: { price: 5 },
      },
      {
        index: 41,
        status: 422,
        code: 'input_not_object',
        duration_us: 1,
        matched: [],
        request: 7,
        response: { error: 'No object.', code: 'input_not_object' },
      },
      {
        index: 42,
        status: 400,
        code: 'invalid_json',
        duration_us: 1,
        matched: [],
        request: null,
        response: { error: 'No JSON.', code: 'invalid_json' },
      },
    ],
  });
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void; // added by the flag

describe('writing', () => {
  const run = (answer: ServiceError | undefined, writes: number, changes: Partial<SolutionRequestEnvelope> = {}) => {
    let time = 0;
    const submitted: string[] = [];
    const outcomes: [string, number][] = [];
    const warnings: unknown[] = [];
    const log = createDecisionLog({
      name: 'worker-1',
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
      expect(submitted).toHaveLength(index); // not before the answer has been sent
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

  it('counts dropped decisions, and logs one line per ten seconds', () => {
    const { outcomes, warnings } = run(new ServiceError('overloaded', 'Full.'), 12);
    expect(outcomes).toHaveLength(12);
    expect(outcomes.every(([outcome]) => outcome === 'dropped')).toBe(true);
    expect(warnings).toEqual([
      { dropped: 2, reason: 'overloaded' },
      { dropped: 20, reason: 'overloaded' },
    ]);
  });

  it('writes nothing for a request without its origin', () => {
    expect(run(undefined, 1, { origin: undefined }).submitted).toEqual([]);
  });

  describe('gathers', () => {
    beforeEach(() => jest.useFakeTimers());
    afterEach(() => jest.useRealTimers());

    const gathering = () => {
      const submitted: string[] = [];
      const log = createDecisionLog({
        name: 'worker-1',
        producer: { submit: ({ value }) => void submitted.push(value.toString()) },
        log: { warn: () => undefined },
        onSettled: () => undefined,
        now: Date.now,
      });
      return { submitted, log };
    };

    it('collects records for 25 ms, then sends everything in order', () => {
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

  describe('numbers', () => {
    const numbering = () => {
      const submitted: { readonly headers: unknown; readonly value: Record<string, unknown> }[] = [];
      const log = createDecisionLog({
        name: 'worker-1',
        producer: {
          submit: ({ headers, value }) =>
            void submitted.push({ headers, value: JSON.parse(value.toString()) as Record<string, unknown> }),
        },
        log: { warn: () => undefined },
        onSettled: () => undefined,
        now: () => Date.parse('2026-01-05T12:00:00Z'),
      });
      return { submitted, log };
    };

    it('its messages for each workspace, in the order in which they were decided', () => {
      const { submitted, log } = numbering();
      for (const workspaceId of ['w', 'x', 'w']) log.write({ ...envelope, workspaceId }, [solved]);
      log.flush();
      expect(submitted.map(({ value }) => [value['workspace_id'], value['sequence']])).toEqual([
        ['w', 0],
        ['x', 0],
        ['w', 1],
      ]);
      log.close();
    });

    it('and says how far it has counted, at last that nothing more comes', () => {
      jest.useFakeTimers();
      const { submitted, log } = numbering();
      log.write(envelope, [solved]);
      jest.advanceTimersByTime(300_000);
      log.close();
      jest.advanceTimersByTime(600_000);
      jest.useRealTimers();
      const reports = submitted.slice(1);
      expect(reports.map(({ value }) => checkProducerReport(value))).toMatchObject([{ ok: true }, { ok: true }]);
      expect(reports.map(({ value }) => [value['workspaces'], value['ended']])).toEqual([
        [[{ workspace_id: 'w', next: 1 }], false],
        [[{ workspace_id: 'w', next: 1 }], true],
      ]);
      expect(reports[0]?.headers).toEqual({ v: '2', form: 'report' });
    });

    it('nothing, and says nothing, if nothing was decided', () => {
      const { submitted, log } = numbering();
      log.close();
      expect(submitted).toEqual([]);
    });
  });

  describe('says when everything before is settled', () => {
    const settling = () => {
      const answers: ((error?: ServiceError) => void)[] = [];
      const log = createDecisionLog({
        name: 'worker-1',
        producer: { submit: (_message, settled) => void answers.push(settled) },
        log: { warn: () => undefined },
        onSettled: () => undefined,
        now: Date.now,
      });
      const isSettled = async (promise: Promise<void> | undefined): Promise<boolean> => {
        let done = promise === undefined;
        void promise?.then(() => (done = true));
        await new Promise((resolve) => setImmediate(resolve));
        return done;
      };
      return { answers, log, isSettled };
    };

    it('at once if nothing was written', () => {
      expect(settling().log.settled?.()).toBeUndefined();
    });

    it('once the record is stored, or dropped, and all that were handed over before it', async () => {
      const { answers, log, isSettled } = settling();
      log.write(envelope, [solved]);
      const gathered = log.settled?.();
      log.flush();
      log.write(envelope, [solved]);
      log.flush();
      const second = log.settled?.();
      answers[1]?.();
      expect(await isSettled(gathered)).toBe(false);
      expect(await isSettled(second)).toBe(false);
      answers[0]?.(new ServiceError('overloaded', 'Full.'));
      expect(await isSettled(gathered)).toBe(true);
      expect(await isSettled(second)).toBe(true);
      expect(log.settled?.()).toBeUndefined();
      log.close();
    });

    it('and holds nothing of what is settled, while something always is under way', async () => {
      const { answers, log, isSettled } = settling();
      log.write(envelope, [solved]);
      const first = new WeakRef(log.settled?.() ?? {});
      log.flush();
      for (let round = 0; round < 10; round += 1) {
        log.write(envelope, [solved]);
        log.flush();
        answers[round]?.();
        await isSettled(undefined);
      }
      expect(log.settled?.()).toBeDefined();
      collectGarbage();
      expect(first.deref()).toBeUndefined();
      log.close();
    });
  });
});

describe('if decisions may only be answered once they are on record', () => {
  const required: LoggingPolicy = { settings: { delivery: 'required' }, hidesTrace: false };
  const opened = (policyOf: () => LoggingPolicy | undefined | Promise<LoggingPolicy | undefined>) => {
    const answers: ((error?: ServiceError) => void)[] = [];
    const waits: [string, number][] = [];
    let time = 1_000;
    const log = createDecisionLog({
      ...{ name: 'worker-1', log: { warn: () => undefined }, onSettled: () => undefined, policyOf, now: () => time },
      producer: { submit: (_, settled) => void answers.push(settled) },
      onWaited: (outcome, ms) => waits.push([outcome, ms]),
    });
    const handedOver = async (): Promise<void> => {
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    };
    const passes = (ms: number): void => void (time += ms);
    return { log, answers, waits, handedOver, passes };
  };

  it('waits for the record, and says how long', async () => {
    const { log, answers, waits, handedOver, passes } = opened(() => required);
    const states: string[] = [];
    const recorded = putOnRecord(log, envelope, [solved])?.then(() => states.push('recorded'));
    await handedOver();
    expect(answers).toHaveLength(1);
    expect(states).toEqual([]);
    passes(40);
    answers[0]?.();
    await recorded;
    expect(states).toEqual(['recorded']);
    expect(waits).toEqual([['recorded', 40]]);
    log.close();
  });

  it('refuses a decision that the broker did not accept', async () => {
    const { log, answers, waits, handedOver } = opened(() => required);
    const recorded = putOnRecord(log, envelope, [solved]);
    await handedOver();
    answers[0]?.(new ServiceError('broker_unavailable', 'It is away.'));
    await expect(recorded).rejects.toMatchObject({
      code: 'decision_not_recorded',
      details: { reason: 'broker_unavailable' },
    });
    expect(waits).toEqual([['not_recorded', 0]]);
    log.close();
  });

  it('refuses a decision that is not on record by the deadline of the request', async () => {
    const { log } = opened(() => required);
    const recorded = putOnRecord(log, { ...envelope, deadline: 1_020 }, [solved]);
    await expect(recorded).rejects.toMatchObject({
      code: 'decision_not_recorded',
      details: { reason: 'deadline_exceeded' },
    });
    log.close();
  });

  it('does not wait if it is not required, even if that has to be looked up', async () => {
    const { log, answers } = opened(() => undefined);
    expect(putOnRecord(log, envelope, [solved])).toBeUndefined();
    log.close();
    const asked = opened(() => Promise.resolve(undefined));
    await putOnRecord(asked.log, envelope, [solved]);
    expect([...answers.slice(2), ...asked.answers]).toEqual([]); // only the record and the report of the first
    expect(asked.waits).toEqual([]);
    asked.log.close();
  });

  it('waits if it is unknown whether it is required', async () => {
    const { log, answers, handedOver } = opened(() => Promise.resolve(NOTHING_SHOWN));
    const recorded = putOnRecord(log, envelope, [solved]);
    await handedOver();
    answers[0]?.(new ServiceError('overloaded', 'Full.'));
    await expect(recorded).rejects.toMatchObject({ code: 'decision_not_recorded' });
    log.close();
  });

  it('is refused if nothing is logged', async () => {
    const { record } = withoutDecisionLog(() => required);
    await expect(record?.(envelope, [solved])).rejects.toMatchObject({ details: { reason: 'decision_logs_are_off' } });
    expect(withoutDecisionLog(() => undefined).record?.(envelope, [solved])).toBeUndefined();
    expect(record?.({ ...envelope, origin: undefined }, [solved])).toBeUndefined();
  });
});
