import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDeadLetters, type DeadLetter } from '../src/delivery/dead-letters';
import { createDelivery, type Delivery } from '../src/delivery/deliver';
import { type SinkRecord } from '../src/reading/sink-record';
import { type RetrySettings } from '../src/reading/sink-settings';
import { type SendOutcome } from '../src/targets/target';
import { manyRecords } from './records';

const NOW = 1_768_469_401_000;
const HOUR_MS = 3_600_000;
const away: SendOutcome = { kind: 'unavailable', reason: 'It is away' };
const refusal: SendOutcome = { kind: 'refused', reason: 'It is wrong', detail: 'no such column' };

interface Trial {
  readonly delivery: Delivery;
  /** Ids by request. */
  readonly requests: string[][];
  readonly taken: Set<string>;
  readonly letters: DeadLetter[];
  readonly failures: string[];
  now: number;
}
interface TrialOptions {
  /** Answers the n-th request, from 1. */
  readonly answer: (records: readonly SinkRecord[], request: number) => SendOutcome;
  readonly retry?: Partial<RetrySettings>;
  readonly batch?: number;
  readonly write?: (letters: readonly DeadLetter[]) => Promise<void>;
}
const begin = ({ answer, retry, batch = 500, write }: TrialOptions): Trial => {
  const trial: Omit<Trial, 'delivery'> = { requests: [], taken: new Set(), letters: [], failures: [], now: NOW };
  const delivery = createDelivery({
    sink: {
      batch: { records: batch, bytes: 1_048_576 },
      retry: { initialMs: 1, maxMs: 4, attempts: 3, giveUpAfterMs: HOUR_MS, ...retry },
    },
    target: {
      send: (records) => {
        trial.requests.push(records.map(({ id }) => id));
        const outcome = answer(records, trial.requests.length);
        const left =
          outcome.kind === 'partly' ? [...outcome.again, ...outcome.refused.map(({ at }) => at)] : records.keys();
        const open = new Set(outcome.kind === 'accepted' ? [] : left);
        records.forEach(({ id }, at) => open.has(at) || trial.taken.add(id));
        return Promise.resolve(outcome);
      },
      stop: () => Promise.resolve(),
    },
    deadLetters: {
      write: async (letters) => {
        await write?.(letters);
        trial.letters.push(...letters);
      },
    },
    observer: {
      sent: () => undefined,
      buried: () => undefined,
      failed: (cause) => void trial.failures.push(cause),
    },
    now: () => trial.now,
  });
  return Object.assign(trial, { delivery });
};
const lasting = new AbortController().signal;
const idsOf = (letters: readonly DeadLetter[]) => letters.map(({ record }) => record.id);

describe('a delivery', () => {
  it('sends batches of the configured size, each record once', async () => {
    const trial = begin({ answer: () => ({ kind: 'accepted' }), batch: 40 });
    await trial.delivery.deliver(manyRecords(100), lasting);
    expect(trial.requests.map((ids) => ids.length)).toEqual([40, 40, 20]);
    expect(trial.taken.size).toBe(100);
    const bytes = begin({ answer: () => ({ kind: 'accepted' }) });
    const large = manyRecords(3).map((record) => ({ ...record, documents: { request: `"${'x'.repeat(600_000)}"` } }));
    await bytes.delivery.deliver(large, lasting);
    expect(bytes.requests.map((ids) => ids.length)).toEqual([1, 1, 1]);
  });

  it('retries a sink that is away until it accepts the records, and reports the failure meanwhile', async () => {
    const failing: boolean[] = [];
    const trial = begin({
      answer: (_, request) => {
        failing.push(trial.delivery.isFailing());
        return request < 6 ? away : { kind: 'accepted' };
      },
    });
    await trial.delivery.deliver(manyRecords(3), lasting);
    expect(trial.requests).toHaveLength(6);
    expect(failing).toEqual([false, true, true, true, true, true]);
    expect([trial.delivery.isFailing(), trial.taken.size, trial.letters.length]).toEqual([false, 3, 0]);
  });

  it('gives records up after enough attempts and time, and goes on with the next', async () => {
    const trial = begin({ answer: () => away, batch: 2 });
    trial.now = NOW + HOUR_MS;
    await trial.delivery.deliver(manyRecords(4), lasting);
    // The second batch is tried once: the sink has already been away for that many attempts.
    expect(trial.requests.map((ids) => ids.length)).toEqual([2, 2, 2, 2]);
    expect(idsOf(trial.letters)).toEqual(manyRecords(4).map(({ id }) => id));
    expect(trial.letters[0]).toMatchObject({ reason: 'It is away' });
  });

  it('gives up no record before it is old enough', async () => {
    const ending = new AbortController();
    const trial = begin({
      answer: (_, request) => {
        if (request === 50) ending.abort();
        return away;
      },
    });
    trial.now = NOW + HOUR_MS - 1;
    await expect(trial.delivery.deliver(manyRecords(2), ending.signal)).rejects.toThrow('The service ends.');
    expect([trial.requests.length, trial.letters.length]).toEqual([50, 0]);
  });

  it('halves refused batches until the records at fault are alone, and puts these into the dead letters with the reason', async () => {
    const bad = new Set(['id-of-m13.0', 'id-of-m77.0']);
    const trial = begin({
      answer: (records) => (records.some(({ id }) => bad.has(id)) ? refusal : { kind: 'accepted' }),
    });
    await trial.delivery.deliver(manyRecords(100), lasting);
    expect(trial.taken.size).toBe(98);
    expect(idsOf(trial.letters)).toEqual([...bad]);
    expect(trial.letters[0]).toMatchObject({ reason: 'It is wrong', detail: 'no such column' });
    expect(trial.requests.length).toBeLessThan(35);
    expect(trial.failures).toEqual([]);
  });

  it('does not send every record singly to a sink that refuses all, and loses nothing once its settings are corrected', async () => {
    let mended = false;
    const trial = begin({
      answer: (_, request) => {
        mended ||= request > 60;
        return mended ? { kind: 'accepted' } : refusal;
      },
    });
    await trial.delivery.deliver(manyRecords(400), lasting);
    expect(trial.failures).toContain('refused');
    expect(trial.letters.length).toBeLessThan(15);
    expect(trial.taken.size + trial.letters.length).toBe(400);
  });

  it('retries a sink that refuses each of many records, but not one that must not receive them again', async () => {
    const blaming = (isFinal: boolean) =>
      begin({
        answer: (records, request) =>
          request < 5
            ? {
                kind: 'partly',
                refused: records.map((_, at) => ({ at, reason: 'No such field' })),
                again: [],
                isFinal,
                reason: 'x',
              }
            : { kind: 'accepted' },
      });
    const mended = blaming(false);
    await mended.delivery.deliver(manyRecords(20), lasting);
    expect([mended.requests.length, mended.taken.size, mended.letters.length]).toEqual([5, 20, 0]);
    const final = blaming(true);
    await final.delivery.deliver(manyRecords(20), lasting);
    expect([final.requests.length, final.letters.length]).toEqual([1, 20]);
    const few = blaming(false);
    await few.delivery.deliver(manyRecords(3), lasting);
    expect([few.requests.length, few.letters.length]).toEqual([1, 3]);
  });

  it('repeats only the records that a sink has not accepted yet', async () => {
    const trial = begin({
      answer: (_, request) =>
        request === 1
          ? { kind: 'partly', refused: [{ at: 0, reason: 'It is wrong' }], again: [1, 3], reason: 'It is busy' }
          : { kind: 'accepted' },
    });
    await trial.delivery.deliver(manyRecords(5), lasting);
    expect(trial.requests[1]).toEqual(['id-of-m1.0', 'id-of-m3.0']);
    expect(idsOf(trial.letters)).toEqual(['id-of-m0.0']);
    expect(trial.taken.size).toBe(4);
  });

  it('waits until dead letters can be written', async () => {
    let full = 3;
    const trial = begin({
      answer: () => refusal,
      write: () => ((full -= 1) >= 0 ? Promise.reject(new Error('The disk is full.')) : Promise.resolve()),
    });
    await trial.delivery.deliver(manyRecords(1), lasting);
    expect(trial.failures).toEqual(['dead_letters', 'dead_letters', 'dead_letters']);
    expect(idsOf(trial.letters)).toEqual(['id-of-m0.0']);
  });

  it('waits as long as the sink asks, up to the longest pause', async () => {
    const trial = begin({
      answer: (_, request) => (request === 1 ? { ...away, retryAfterMs: 3_600_000 } : { kind: 'accepted' }),
      retry: { maxMs: 300 },
    });
    const begunAt = performance.now();
    await trial.delivery.deliver(manyRecords(1), lasting);
    expect(performance.now() - begunAt).toBeGreaterThan(290);
    expect(trial.taken.size).toBe(1);
  });
});

describe('dead letters', () => {
  let folder: string;
  beforeEach(async () => {
    folder = join(await mkdtemp(join(tmpdir(), 'dead-letters-')), 'made', 'here');
  });
  afterEach(() => rm(join(folder, '../..'), { recursive: true }));
  const letter = (at: number): DeadLetter => ({
    record: manyRecords(at + 1)[at] as SinkRecord, // there are as many
    ...{ reason: 'It is wrong', detail: 'a\nb' },
  });
  const open = (maxBytes = 1_048_576) => createDeadLetters({ folder, sink: 'audit', maxBytes });
  const lines = async () => (await readFile(join(folder, 'audit.ndjson'), 'utf8')).split('\n');

  it('are JSON lines with the record as sent, the reason and the time, readable only by their owner', async () => {
    const letters = open();
    await letters.prepare();
    await letters.write([letter(0), letter(1)]);
    await letters.write([letter(2)]);
    const written = await lines();
    expect(written).toHaveLength(4);
    expect(JSON.parse(written[1] ?? '')).toEqual({
      ...{ sink: 'audit', reason: 'It is wrong', detail: 'a\nb', at: expect.stringMatching(/^\d{4}-.*Z$/) },
      record: expect.objectContaining({ id: 'id-of-m1.0', request: { at: 1 } }),
    });
    expect((await stat(join(folder, 'audit.ndjson'))).mode & 0o777).toBe(0o600);
  });

  it('begin on a new line after a truncated one', async () => {
    const letters = open();
    await letters.prepare();
    await writeFile(join(folder, 'audit.ndjson'), '{"sink":"audit","reas');
    await letters.write([letter(0)]);
    const [cut, whole] = await lines();
    expect(cut).toBe('{"sink":"audit","reas');
    expect(JSON.parse(whole ?? '')).toMatchObject({ record: { id: 'id-of-m0.0' } });
  });

  it('are refused beyond their size, and accepted again once the file is moved away', async () => {
    const letters = open(1_000);
    await letters.prepare();
    await letters.write([letter(0)]);
    await expect(letters.write([letter(1)])).rejects.toThrow(/audit\.ndjson has \d+ of 1000 bytes; move it away/);
    await rm(join(folder, 'audit.ndjson'));
    await letters.write([letter(1)]);
    expect(await lines()).toHaveLength(2);
  });

  it('are refused if the folder cannot be made', async () => {
    await open().prepare();
    const blocked = createDeadLetters({ folder: join(folder, 'audit.ndjson', 'below'), sink: 'x', maxBytes: 10 });
    await expect(blocked.prepare()).rejects.toThrow(/ENOTDIR/);
  });
});
