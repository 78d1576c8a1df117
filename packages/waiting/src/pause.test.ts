import { pause } from './pause';

describe('pause', () => {
  it('lasts for the given time', async () => {
    const began = performance.now();
    await pause(20, new AbortController().signal);
    // Timers count in whole milliseconds.
    expect(performance.now() - began).toBeGreaterThanOrEqual(19);
  });

  it('ends when the signal aborts, and at once if it has aborted already', async () => {
    const controller = new AbortController();
    const paused = pause(1_000_000, controller.signal);
    controller.abort();
    await expect(paused).resolves.toBeUndefined();
    await expect(pause(1_000_000, controller.signal)).resolves.toBeUndefined();
  });
});
