import { createEqualDeadlines } from './equal-deadlines';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

it('calls back for each whose time is over, in the order in which they began, and for no other', () => {
  const passed: string[] = [];
  const deadlines = createEqualDeadlines<string>(1_000, (item) => passed.push(item));
  deadlines.add('first');
  jest.advanceTimersByTime(400);
  deadlines.add('ended');
  deadlines.add('second');
  jest.advanceTimersByTime(599);
  deadlines.delete('ended');
  expect(passed).toEqual([]);
  jest.advanceTimersByTime(1);
  expect(passed).toEqual(['first']);
  jest.advanceTimersByTime(399);
  expect(passed).toEqual(['first']);
  jest.advanceTimersByTime(1);
  expect(passed).toEqual(['first', 'second']);
});

it('has one timer while anything waits, and none once a check has found nothing', () => {
  const deadlines = createEqualDeadlines<number>(1_000, () => undefined);
  for (let item = 0; item < 100; item += 1) deadlines.add(item);
  expect(jest.getTimerCount()).toBe(1);
  for (let item = 0; item < 100; item += 1) deadlines.delete(item);
  jest.advanceTimersByTime(1_000);
  expect(jest.getTimerCount()).toBe(0);
  deadlines.add(1);
  expect(jest.getTimerCount()).toBe(1);
});
