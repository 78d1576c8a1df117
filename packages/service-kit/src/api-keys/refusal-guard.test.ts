import { createRefusalGuard, REFUSAL_BURST, REFUSAL_FLOOR_MS, type RefusalOutcome } from './refusal-guard';

/** A guard whose clock stands still unless it is moved, with what it slept and said. */
const guardUnderTest = (resolveSleeps = true) => {
  const slept: number[] = [];
  const outcomes: RefusalOutcome[] = [];
  const clock = { now: 1_000 };
  const wake: (() => void)[] = [];
  const guard = createRefusalGuard({
    now: () => clock.now,
    sleep: (ms) => {
      slept.push(ms);
      return resolveSleeps ? Promise.resolve() : new Promise((resolve) => wake.push(resolve));
    },
    onRefusal: (outcome) => outcomes.push(outcome),
  });
  return { guard, slept, outcomes, clock, wake };
};

it('answers no sooner than the floor, however quick the check was', async () => {
  const { guard, slept, clock } = guardUnderTest();
  for (const took of [0, 1, 10, REFUSAL_FLOOR_MS, 400]) await guard.hold('192.0.2.1', clock.now - took);
  expect(slept).toEqual([REFUSAL_FLOOR_MS, REFUSAL_FLOOR_MS - 1, REFUSAL_FLOOR_MS - 10, 0, 0]);
});

it('slows an address more and more once it has used up its burst, up to a bound, and no other', async () => {
  const { guard, slept, outcomes, clock } = guardUnderTest();
  for (let attempt = 0; attempt < 200; attempt += 1) await guard.hold('192.0.2.1', clock.now);
  expect(new Set(slept.slice(0, REFUSAL_BURST))).toEqual(new Set([REFUSAL_FLOOR_MS]));
  const beyond = slept.slice(REFUSAL_BURST);
  expect(beyond.every((ms, index) => ms >= (beyond[index - 1] ?? 0))).toBe(true);
  expect(beyond.at(-1)).toBe(5_000 + REFUSAL_FLOOR_MS);
  expect(outcomes.filter((outcome) => outcome === 'slowed')).toHaveLength(180);
  await guard.hold('192.0.2.2', clock.now);
  expect(slept.at(-1)).toBe(REFUSAL_FLOOR_MS);
});

it('forgives after a minute', async () => {
  const { guard, slept, clock } = guardUnderTest();
  for (let attempt = 0; attempt < 50; attempt += 1) await guard.hold('192.0.2.1', clock.now);
  clock.now += 60_000;
  await guard.hold('192.0.2.1', clock.now);
  expect(slept.at(-1)).toBe(REFUSAL_FLOOR_MS);
});

it('lets so many wait and turns the rest away', async () => {
  const { guard, outcomes, clock, wake } = guardUnderTest(false);
  const holds = Array.from({ length: 100 }, () => guard.hold('192.0.2.1', clock.now).catch((error: unknown) => error));
  const turnedAway = outcomes.length;
  expect(turnedAway).toBe(80);
  for (const resolve of wake) resolve();
  const results = await Promise.all(holds);
  expect(results.filter((result) => result !== undefined)).toHaveLength(80);
  expect(results.at(-1)).toMatchObject({ code: 'too_many_refusals', details: { retry_after_seconds: 5 } });
});

it('remembers a bounded number of addresses', async () => {
  const { guard, clock } = guardUnderTest();
  for (let index = 0; index < 12_000; index += 1) await guard.hold(`10.${index >> 8}.${index & 255}.1`, clock.now);
  expect(guard.size()).toBe(10_000);
});

it('takes a whole network of the newer kind for one address, and those without any for another', async () => {
  const { guard, clock } = guardUnderTest();
  for (const address of ['2001:db8::1', '2001:db8:0:0:ffff::2', '2001:db8::%eth0', undefined]) await guard.hold(address, clock.now); // prettier-ignore
  expect(guard.size()).toBe(2);
  await guard.hold('2001:db8:0:1::1', clock.now);
  expect(guard.size()).toBe(3);
});
