import { backOffMs } from './back-off';

describe('backOffMs', () => {
  it.each([
    [0, 50],
    [1, 100],
    [5, 1_600],
    [6, 2_000],
    [1_000_000, 2_000],
  ])('waits at most, before retry %d, %d ms', (attempt, longest) => {
    expect(backOffMs(attempt, 0)).toBe(longest);
    expect(backOffMs(attempt, 1)).toBe(longest / 2);
  });
});
