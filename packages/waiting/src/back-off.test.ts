import { backOffMs, doublingMs } from './back-off';

const bounds = { initialMs: 100, maxMs: 2_000 };

describe('doublingMs', () => {
  it.each([
    [1, 100],
    [2, 200],
    [5, 1_600],
    [6, 2_000],
    [1_000_000, 2_000],
  ])('after %i failures waits %i ms', (failures, expected) => {
    expect(doublingMs(failures, bounds)).toBe(expected);
  });
});

describe('backOffMs', () => {
  it.each([
    [1, 0, 50],
    [1, 0.999999, 100],
    [2, 0, 100],
    [3, 0.5, 300],
    [6, 0, 1_000],
    [6, 0.999999, 2_000],
    [5_000, 0.999999, 2_000],
  ])('after %i failures with randomness %d waits %i ms', (failures, random, expected) => {
    expect(backOffMs(failures, bounds, random)).toBe(expected);
  });

  it('chooses differently each time', () => {
    expect(new Set(Array.from({ length: 100 }, () => backOffMs(6, bounds))).size).toBeGreaterThan(10);
  });
});
