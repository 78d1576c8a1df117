import { Availability } from './availability';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const recorded = (absentAfterMs: number | undefined): { availability: Availability; changes: boolean[] } => {
  const changes: boolean[] = [];
  return { availability: new Availability(absentAfterMs, (available) => changes.push(available)), changes };
};

it('counts as absent until it has been found', () => {
  const { availability, changes } = recorded(750);
  expect(availability.isAvailable()).toBe(false);
  availability.found();
  expect([availability.isAvailable(), changes]).toEqual([true, [true]]);
});

it('forgives an absence that does not last', () => {
  const { availability, changes } = recorded(750);
  availability.found();
  availability.lost();
  jest.advanceTimersByTime(749);
  availability.found();
  jest.advanceTimersByTime(10_000);
  expect([availability.isAvailable(), changes]).toEqual([true, [true, true]]);
});

it('says once that an absence has lasted, counted from its beginning', () => {
  const { availability, changes } = recorded(750);
  availability.found();
  availability.lost();
  jest.advanceTimersByTime(500);
  availability.lost();
  jest.advanceTimersByTime(249);
  expect(availability.isAvailable()).toBe(true);
  jest.advanceTimersByTime(1);
  availability.lost();
  jest.advanceTimersByTime(10_000);
  expect([availability.isAvailable(), changes]).toEqual([false, [true, false]]);
});

it('never counts an absence if none was asked for', () => {
  const { availability, changes } = recorded(undefined);
  expect(availability.isAvailable()).toBe(true);
  availability.lost();
  expect([availability.isAvailable(), changes, jest.getTimerCount()]).toEqual([true, [], 0]);
});

it('leaves no timer behind', () => {
  const { availability } = recorded(750);
  availability.found();
  availability.lost();
  availability.close();
  expect(jest.getTimerCount()).toBe(0);
});
