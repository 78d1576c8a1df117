import { type Signals, signalsAt, simulate, type Trigger } from '../src/scaling-rule';

/** A worker whose gateway refuses excess requests: the lag stays short. */
const measured: readonly Signals[] = [
  { ratio: 0.5, lag: 1, pressure: 0, cores: 0.5, refused: 0 },
  { ratio: 1, lag: 20, pressure: 0, cores: 0.95, refused: 0 },
  { ratio: 1.02, lag: 21, pressure: 1.02, cores: 1, refused: 0.02 },
  { ratio: 4, lag: 40, pressure: 4, cores: 1, refused: 0.75 },
];
const targets = { lag: 100, cpuPercent: 70, requestedCores: 1, minReplicas: 2, maxReplicas: 64 };
const run = (...triggers: readonly Trigger[]) =>
  simulate({
    ...{ measured, triggers, targets, seconds: 600, startSeconds: 20 },
    offered: (second) => (second < 60 ? 1 : 16),
  });

it('signals between two that were measured are in proportion, and beyond them those at the ends', () => {
  expect(signalsAt(measured, 2.5)).toEqual({
    ratio: 2.5,
    lag: expect.closeTo(30.4, 1) as number,
    pressure: expect.closeTo(2.5, 1) as number,
    cores: 1,
    refused: expect.closeTo(0.38, 2) as number,
  });
  expect(signalsAt(measured, 0.1)).toMatchObject({ lag: 1, refused: 0 });
  expect(signalsAt(measured, 9)).toMatchObject({ lag: 40, pressure: 4 });
});

it('a lag that admission keeps short adds no workers, and refusals go on', () => {
  expect(run('lag')).toMatchObject({ workersAtEnd: 2, lastRefusal: 599 });
});

it('what is refused adds as many workers as are missing', () => {
  const { workersAtEnd, lastRefusal } = run('pressure');
  expect(workersAtEnd).toBeGreaterThanOrEqual(15);
  expect(workersAtEnd).toBeLessThanOrEqual(32);
  expect(lastRefusal).toBeLessThan(180);
});

it('the trigger that asks for most decides', () => {
  const [all, one] = [run('lag', 'cpu', 'pressure'), run('cpu')];
  expect(all.lastRefusal ?? 0).toBeLessThanOrEqual(one.lastRefusal ?? 0);
  expect(all.workersAtEnd).toBeGreaterThanOrEqual(one.workersAtEnd);
});
