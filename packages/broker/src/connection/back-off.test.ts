import { backOffMs } from './back-off';

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
    expect(backOffMs(failures, {}, random)).toBe(expected);
  });

  it('follows the settings', () => {
    expect(backOffMs(1, { initialMs: 10, maxMs: 40 }, 0)).toBe(5);
    expect(backOffMs(9, { initialMs: 10, maxMs: 40 }, 0)).toBe(20);
  });
});
