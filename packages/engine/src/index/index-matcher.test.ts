import { extremeValues } from '../../test/support/extremes';
import { pick, randomFrom, runSeed, times } from '../../test/support/random';
import { segmentNear, segmentOf } from './index-matcher';

const seed = runSeed();
const EXTREMES = extremeValues('number').filter((value) => typeof value === 'number' && !Number.isNaN(value));

it(`finds the same segment from where the point should stand as by halving (seed ${seed})`, () => {
  const random = randomFrom(seed);
  const numbers = [
    () => Math.floor(random() * 40),
    () => random(),
    () => 2 ** Math.floor(random() * 60),
    () => Number(pick(random, EXTREMES)),
  ];
  const wrong: unknown[] = [];
  for (let round = 0; round < 3_000; round += 1) {
    const number = pick(random, numbers);
    const cuts = Float64Array.from(new Set(times(Math.floor(random() * 30), number))).sort();
    for (const point of [...cuts, ...times(20, number), ...times(5, () => Number(pick(random, EXTREMES)))])
      if (segmentNear(cuts, point) !== segmentOf(cuts, point)) wrong.push([[...cuts], point]);
  }
  expect(wrong).toEqual([]);
});
