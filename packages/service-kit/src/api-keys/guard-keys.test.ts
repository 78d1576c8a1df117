import { type Identity } from './authenticator';
import { createKeyUse, createRefusalGuard, REFUSAL_BURST, REFUSAL_FLOOR_MS, type RefusalOutcome } from './guard-keys';

describe('refusals', () => {
  /** A guard with a clock that only the test moves, and with its sleeps and outcomes. */
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

  it('never answers before the minimum time, however quick the check was', async () => {
    const { guard, slept, clock } = guardUnderTest();
    for (const took of [0, 1, 10, REFUSAL_FLOOR_MS, 400]) await guard.admit('192.0.2.1').refuse(clock.now - took);
    expect(slept).toEqual([REFUSAL_FLOOR_MS, REFUSAL_FLOOR_MS - 1, REFUSAL_FLOOR_MS - 10, 0, 0]);
  });

  it('slows only an address that has used up its burst, increasingly and up to a bound', async () => {
    const { guard, slept, outcomes, clock } = guardUnderTest();
    for (let attempt = 0; attempt < 200; attempt += 1) await guard.admit('192.0.2.1').refuse(clock.now);
    expect(new Set(slept.slice(0, REFUSAL_BURST))).toEqual(new Set([REFUSAL_FLOOR_MS]));
    const beyond = slept.slice(REFUSAL_BURST);
    expect(beyond.every((ms, index) => ms >= (beyond[index - 1] ?? 0))).toBe(true);
    expect(beyond.at(-1)).toBe(5_000 + REFUSAL_FLOOR_MS);
    expect(outcomes.filter((outcome) => outcome === 'slowed')).toHaveLength(180);
    await guard.admit('192.0.2.2').refuse(clock.now);
    expect(slept.at(-1)).toBe(REFUSAL_FLOOR_MS);
  });

  it('forgets refusals after a minute', async () => {
    const { guard, slept, clock } = guardUnderTest();
    for (let attempt = 0; attempt < 50; attempt += 1) await guard.admit('192.0.2.1').refuse(clock.now);
    clock.now += 60_000;
    await guard.admit('192.0.2.1').refuse(clock.now);
    expect(slept.at(-1)).toBe(REFUSAL_FLOOR_MS);
  });

  it('gives an address beyond its burst 20 slots and refuses the rest before their check', async () => {
    const { guard, outcomes, clock, wake } = guardUnderTest(false);
    const refuse = (): Promise<void> => guard.admit('192.0.2.1').refuse(clock.now);
    const burst = Array.from({ length: REFUSAL_BURST }, refuse);
    const waiting = Array.from({ length: 20 }, refuse);
    for (let attempt = 0; attempt < 80; attempt += 1) expect(refuse).toThrow(expect.objectContaining({ code: 'too_many_refusals', details: { retry_after_seconds: 5 } })); // prettier-ignore
    expect(outcomes).toEqual(Array.from({ length: 80 }, () => 'turned_away'));
    guard.admit('192.0.2.2').end();
    for (const resolve of wake) resolve();
    await Promise.all([...burst, ...waiting]);
    guard.admit('192.0.2.1').end();
  });

  it('releases the slots of an address when its keys are accepted or cannot be checked', async () => {
    const { guard, clock } = guardUnderTest();
    for (let attempt = 0; attempt < 50; attempt += 1) await guard.admit('192.0.2.1').refuse(clock.now);
    for (let attempt = 0; attempt < 100; attempt += 1) guard.admit('192.0.2.1').end();
    expect(Array.from({ length: 20 }, () => guard.admit('192.0.2.1'))).toHaveLength(20);
    expect(() => guard.admit('192.0.2.1')).toThrow();
  });

  it('bounds the concurrent checks of all addresses, without counting delayed refusals', async () => {
    const { guard, clock, wake } = guardUnderTest(false);
    const address = (index: number): string => `10.${index >> 8}.${index & 255}.1`;
    const waiting = Array.from({ length: 2_000 }, (_, index) => guard.admit(address(index)).refuse(clock.now));
    const checks = Array.from({ length: 1_000 }, (_, index) => guard.admit(address(index)));
    expect(() => guard.admit('192.0.2.1')).toThrow(expect.objectContaining({ code: 'too_many_refusals' }));
    for (const check of checks) check.end();
    guard.admit('192.0.2.1').end();
    for (const resolve of wake) resolve();
    await Promise.all(waiting);
  });

  it('remembers a bounded number of addresses', async () => {
    const { guard, clock } = guardUnderTest();
    for (let index = 0; index < 12_000; index += 1)
      await guard.admit(`10.${index >> 8}.${index & 255}.1`).refuse(clock.now);
    expect(guard.size()).toBe(10_000);
  });

  it('counts an IPv6 network as one address, and all unknown addresses as another', async () => {
    const { guard, clock } = guardUnderTest();
    for (const address of ['2001:db8::1', '2001:db8:0:0:ffff::2', '2001:db8::%eth0', undefined]) await guard.admit(address).refuse(clock.now); // prettier-ignore
    expect(guard.size()).toBe(2);
    await guard.admit('2001:db8:0:1::1').refuse(clock.now);
    expect(guard.size()).toBe(3);
  });
});

describe('the use of keys', () => {
  const identity = (actor: string): Identity => ({
    actor,
    workspaceId: 'w',
    role: 'solver',
    entitlements: new Set(),
    userGroups: undefined,
  });

  it('records each key at most once a minute', () => {
    const noted: string[] = [];
    let now = 0;
    const use = createKeyUse({ record: ({ actor }) => Promise.resolve(void noted.push(actor)), now: () => now });
    for (now = 0; now < 180_000; now += 1_000) use(identity('a'));
    expect(noted).toEqual(['a', 'a', 'a']);
    use(identity('b'));
    expect(noted).toEqual(['a', 'a', 'a', 'b']);
  });

  it('survives a store that fails or hangs, without accumulating work', async () => {
    const failures: unknown[] = [];
    const failing = createKeyUse({
      record: () => Promise.reject(new TypeError('away')),
      now: () => 0,
      onFailure: (error) => failures.push(error),
    });
    failing(identity('a'));
    await new Promise(setImmediate);
    expect(failures).toEqual([expect.objectContaining({ message: 'away' })]);

    let begun = 0;
    const hanging = createKeyUse({ record: () => (begun++, new Promise(() => undefined)), now: () => 0 });
    for (let key = 0; key < 100; key += 1) hanging(identity(`k${key}`));
    expect(begun).toBe(10);
  });
});
