import { openProcessorClock, readProcessorMs } from './processor-clock';
import { type CodeJob, Sandbox } from './sandbox';

const MEMORY_BYTES = 33_554_432;
const job = (source: string, more: Partial<CodeJob> = {}): CodeJob => ({
  ...{ source, inputs: '{}', seed: 1, runMs: 50, deadline: Date.now() + 60_000, maxOutputLength: 1_000 },
  ...more,
});
const spinFor = (ms: number): string => `const end = Date.now() + ${ms}; while (Date.now() < end); outputs.ok = true`;
const isWanted = (): boolean => true;

describe('the time of a run', () => {
  it('CN-53: is processor time: a thread that waits for a processor does not use it up', async () => {
    const tenth = { processorMs: () => performance.now() / 10 };
    const sandbox = new Sandbox(MEMORY_BYTES, tenth);
    await expect(sandbox.run(job(spinFor(250)), isWanted)).resolves.toEqual({ outputs: '{"ok":true}' });
    await expect(sandbox.run(job('for (;;) {}'), isWanted)).resolves.toEqual({ fault: { kind: 'time' } });
  });

  it('CN-53: is at most ten times as long by the clock', async () => {
    const stopped = { processorMs: () => 0 };
    await expect(new Sandbox(MEMORY_BYTES, stopped).run(job('for (;;) {}'), isWanted)).resolves.toEqual({
      fault: { kind: 'time' },
    });
  });

  it('CN-53: ends with the deadline of the request, even if the thread hardly ran', async () => {
    const stopped = { processorMs: () => 0 };
    const endless = job('for (;;) {}', { runMs: 60_000, deadline: Date.now() + 100 });
    await expect(new Sandbox(MEMORY_BYTES, stopped).run(endless, isWanted)).resolves.toEqual({
      fault: { kind: 'time' },
    });
  });
});

describe('the clock of a thread', () => {
  it('goes forward while the thread works', () => {
    const { processorMs } = openProcessorClock();
    const begunAt = processorMs();
    const end = performance.now() + 50;
    while (performance.now() < end);
    expect(processorMs()).toBeGreaterThan(begunAt);
  });

  it('can be read by other threads by its id, if the system provides it', () => {
    const { threadId, processorMs } = openProcessorClock();
    const seen = readProcessorMs(threadId);
    if (threadId === 0) expect(seen).toBeUndefined();
    else expect(seen).toBeLessThanOrEqual(processorMs());
    expect(readProcessorMs(0)).toBeUndefined();
  });
});
