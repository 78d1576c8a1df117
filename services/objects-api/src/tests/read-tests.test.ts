import { readTests, withTestIds } from './read-tests';

it('reads a whole test as it is and gives others their defaults', () => {
  const whole = {
    id: 'a',
    name: 'A',
    request: { x: 1 },
    response: { y: 2 },
    policy: 'excludes',
    critical: true,
  } as const;
  expect(
    readTests([{ ...whole, extra: 1 }, {}, { id: 5, request: [1], response: 'x', policy: 'most', critical: 1 }]),
  ).toEqual([
    whole,
    { id: 'test-2', name: 'Test 2', request: {}, response: {}, policy: 'contains', critical: false },
    { id: 'test-3', name: 'Test 3', request: {}, response: {}, policy: 'contains', critical: false },
  ]);
});

it('gives ids where there is none, an empty one, or one that an earlier test has', () => {
  let made = 0;
  const suite = [{ id: 'a', n: 1 }, { n: 2 }, { id: '', n: 3 }, { id: 'a', n: 4 }, { id: 7, n: 5 }];
  expect(withTestIds(suite, () => `new-${(made += 1)}`)).toEqual([
    { id: 'a', n: 1 },
    { id: 'new-1', n: 2 },
    { id: 'new-2', n: 3 },
    { id: 'new-3', n: 4 },
    { id: 'new-4', n: 5 },
  ]);
});
