import { seededRandom } from './seeded-random';

const draw = (seed: number) => {
  const random = seededRandom(seed);
  return Array.from({ length: 2_000 }, () => random.below(10));
};

it('draws the same for the same seed, and something else for another', () => {
  expect(draw(7)).toEqual(draw(7));
  expect(draw(7)).not.toEqual(draw(8));
});

it('draws every number below the bound about as often', () => {
  const counts = Array.from({ length: 10 }, (_, value) => draw(7).filter((drawn) => drawn === value).length);
  expect(Math.min(...counts)).toBeGreaterThan(140);
  expect(Math.max(...counts)).toBeLessThan(260);
});

it('picks among what it is given', () => {
  const random = seededRandom(1);
  expect(new Set(Array.from({ length: 100 }, () => random.pick(['x', 'y', 'z'])))).toEqual(new Set(['x', 'y', 'z']));
  expect(random.happens(0)).toBe(false);
  expect(random.happens(1)).toBe(true);
});
