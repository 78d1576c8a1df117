import { Admission, type AdmissionWindow } from './admission';

const LIMITS = { targetMs: 100, maxRequests: 5_000, maxBytes: 1_000 };
let time: number;
let windows: AdmissionWindow[];

const make = (limits: Partial<typeof LIMITS> = {}): Admission => {
  time = 0;
  windows = [];
  return new Admission(
    { ...LIMITS, ...limits },
    () => time,
    (window) => windows.push(window),
  );
};

const fill = (admission: Admission): number => {
  let admitted = 0;
  try {
    for (;;) {
      admission.enter();
      admitted += 1;
    }
  } catch {
    return admitted;
  }
};

const refusalOf = (work: () => void): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
};

/** A system that answers `perSecond` requests and is offered `factor` times as many; returns its results in the last of `seconds`. */
const overload = (admission: Admission, perSecond: number, factor: number, seconds: number) => {
  const queue: number[] = [];
  const latencies: number[] = [];
  let owed = 0;
  const end = time + seconds * 1_000;
  for (; time < end; time += 1) {
    for (let arrival = 0; arrival < (perSecond * factor) / 1_000; arrival += 1) {
      try {
        admission.enter();
        queue.push(time);
      } catch {
        // refused
      }
    }
    for (owed += perSecond / 1_000; owed >= 1; owed -= 1) {
      const arrived = queue.shift();
      if (arrived === undefined) continue;
      admission.leave(0, time - arrived);
      if (time >= end - 1_000) latencies.push(time - arrived);
    }
  }
  for (const _ of queue) admission.leave(0, undefined);
  latencies.sort((a, b) => a - b);
  return { goodput: latencies.length, p99: latencies[Math.floor(latencies.length * 0.99)] ?? 0 };
};

it.each([500, 2_000, 5_000])(
  'keeps throughput and latency at three times the load that a system of %i/s sustains',
  (perSecond) => {
    const { goodput, p99 } = overload(make(), perSecond, 3, 8);
    expect(goodput).toBeGreaterThan(perSecond * 0.95);
    expect(p99).toBeLessThan(3 * LIMITS.targetMs);
  },
);

it('refuses nothing at a sustainable load', () => {
  const admission = make();
  const { goodput } = overload(admission, 5_000, 0.8, 10);
  expect(goodput).toBeGreaterThanOrEqual(3_990);
});

it('always admits a few, however slow they are', () => {
  const admission = make();
  for (let round = 0; round < 50; round += 1) {
    const admitted = fill(admission);
    expect(admitted).toBeGreaterThanOrEqual(100);
    time += 60_000;
    for (let index = 0; index < admitted; index += 1) admission.leave(0, 60_000);
  }
  expect(windows.at(-1)?.limit).toBe(100);
});

it('returns to a high limit when the system has recovered', () => {
  const admission = make();
  overload(admission, 100, 3, 10);
  const slow = windows.at(-1)?.limit ?? 0;
  expect(slow).toBe(100);
  overload(admission, 8_000, 3, 8);
  expect(windows.at(-1)?.limit ?? 0).toBeGreaterThan(300);
});

it('never exceeds the hard bound', () => {
  const admission = make({ maxRequests: 40 });
  expect(fill(admission)).toBe(40);
});

it('bounds the bytes in flight, and releases those that left', () => {
  const admission = make();
  admission.enter();
  admission.hold(1_000);
  expect(refusalOf(() => admission.hold(1))).toMatchObject({ code: 'overloaded' });
  admission.leave(1_000, undefined);
  admission.hold(1_000);
});

it('tells clients to retry after the time that the requests in flight take', () => {
  const admission = make({ maxRequests: 300 });
  fill(admission);
  expect(refusalOf(() => admission.enter())).toMatchObject({ details: { retry_after_seconds: 1 } });
  for (let index = 0; index < 40; index += 1) {
    time += 25;
    admission.leave(0, 50);
  }
  // Forty in a second: three hundred take seven and a half.
  fill(admission);
  expect(refusalOf(() => admission.enter())).toMatchObject({ details: { retry_after_seconds: 8 } });
  time += 20_000;
  expect(refusalOf(() => admission.enter())).toMatchObject({ details: { retry_after_seconds: 20 } });
  time += 600_000;
  expect(refusalOf(() => admission.enter())).toMatchObject({ details: { retry_after_seconds: 30 } });
});
