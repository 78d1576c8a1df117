import { Pressure } from './pressure';

let now: number;
let pressure: Pressure;
beforeEach(() => {
  now = 0;
  pressure = new Pressure(() => now);
});

/** A second with evenly spread requests. */
const second = (admitted: number, refused: number): void => {
  for (let part = 0; part < 10; part += 1) {
    for (let count = 0; count < refused / 10; count += 1) pressure.countRefused();
    for (let count = 0; count < admitted / 10; count += 1) pressure.countAdmitted();
    now += 100;
  }
};

it('is 0 if nothing is refused, however much is admitted', () => {
  for (let time = 0; time < 20; time += 1) second(1_000, 0);
  expect(pressure.read()).toBe(0);
});

it('is the number of arrivals per admitted request', () => {
  for (let time = 0; time < 20; time += 1) second(1_000, 500);
  expect(pressure.read()).toBeCloseTo(1.5, 1);
});

it('counts only the last 15 seconds', () => {
  for (let time = 0; time < 20; time += 1) second(100, 900);
  for (let time = 0; time < 14; time += 1) second(1_000, 0);
  expect(pressure.read()).toBeGreaterThan(1);
  expect(pressure.read()).toBeLessThan(2);
  now += 3_000;
  expect(pressure.read()).toBe(0);
});

it('is the number of requests if none is admitted', () => {
  for (let count = 0; count < 7; count += 1) pressure.countRefused();
  expect(pressure.read()).toBe(7);
});
