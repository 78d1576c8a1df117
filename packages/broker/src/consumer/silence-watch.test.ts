import { SilenceWatch } from './silence-watch';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const watching = (normalSilenceMs: number): { watch: SilenceWatch; reasons: string[] } => {
  const reasons: string[] = [];
  const watch = new SilenceWatch({
    normalSilenceMs: () => normalSilenceMs,
    onSilent: ({ message }) => reasons.push(message),
  });
  watch.start();
  return { watch, reasons };
};

it('says nothing while answers come, however long', () => {
  const { watch, reasons } = watching(500);
  for (let second = 0; second < 300; second += 1) {
    jest.advanceTimersByTime(1_000);
    if (second % 10 === 0) watch.heard();
  }
  expect([reasons, watch.lastHeardAt() > 0]).toEqual([[], true]);
  watch.stop();
});

it('reports a silence that exceeds the normal one by 15 s', () => {
  const { watch, reasons } = watching(5_000);
  jest.advanceTimersByTime(20_000);
  expect(reasons).toEqual([]);
  jest.advanceTimersByTime(1_000);
  expect(reasons).toEqual(['the broker has not answered for 21 seconds']);
  watch.stop();
  jest.advanceTimersByTime(60_000);
  expect([reasons.length, watch.isRunning(), jest.getTimerCount()]).toEqual([1, false, 0]);
});

it('forgives a silence in which this process itself stood still', () => {
  const { watch, reasons } = watching(500);
  jest.advanceTimersByTime(1_000);
  jest.setSystemTime(Date.now() + 60_000); // no timer ran meanwhile
  jest.advanceTimersByTime(15_000);
  expect(reasons).toEqual([]);
  watch.stop();
});
