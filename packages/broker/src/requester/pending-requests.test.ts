import fc from 'fast-check';
import { createDeadlineWheel, type PendingRequest, PendingRequests, SLOT_MS } from './pending-requests';

const request = (correlationId: string, deadline: number, bytes = 10): PendingRequest => ({
  correlationId,
  envelope: {
    deadline,
    kind: 'solve',
    workspaceId: 'w',
    versionId: 'v',
    receivedAt: 0,
    explain: 'none',
    requestId: 'r',
    traceparent: undefined,
  },
  payload: Buffer.alloc(bytes),
  replyPartition: 0,
  settled: () => undefined,
});

describe('PendingRequests', () => {
  beforeEach(() => jest.useFakeTimers({ now: 1_000_000 }));
  afterEach(() => jest.useRealTimers());

  it('counts what is in flight', () => {
    const pending = new PendingRequests(() => undefined);
    pending.add(request('a', 2_000_000, 30));
    pending.add(request('b', 2_000_000, 12));
    expect([pending.size, pending.bytes]).toEqual([2, 42]);
    expect(pending.take('a')?.correlationId).toBe('a');
    expect([pending.size, pending.bytes]).toEqual([1, 12]);
    pending.close();
  });

  it('gives a request away once', () => {
    const pending = new PendingRequests(() => undefined);
    pending.add(request('a', 2_000_000));
    expect(pending.take('a')).toBeDefined();
    expect(pending.take('a')).toBeUndefined();
    pending.close();
  });

  it('expires each at its own deadline, whatever the order of arrival', () => {
    const expired: [string, number][] = [];
    const pending = new PendingRequests(({ correlationId }) => expired.push([correlationId, Date.now()]));
    pending.add(request('late', 1_060_000));
    pending.add(request('soon', 1_000_160));
    pending.add(request('middle', 1_030_000));
    jest.advanceTimersByTime(60_016);
    expect(expired.map(([id]) => id)).toEqual(['soon', 'middle', 'late']);
    expect(expired.every(([, at], index) => at - ([1_000_160, 1_030_000, 1_060_000][index] ?? 0) < 17)).toBe(true);
    expect([pending.size, pending.bytes]).toEqual([0, 0]);
  });

  it('does not expire what was answered', () => {
    const expired: string[] = [];
    const pending = new PendingRequests(({ correlationId }) => expired.push(correlationId));
    pending.add(request('a', 1_000_100));
    pending.take('a');
    jest.advanceTimersByTime(1_000);
    expect(expired).toEqual([]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('remembers expired ids, up to a bound', () => {
    const pending = new PendingRequests(() => undefined);
    for (let index = 0; index <= 10_000; index += 1) pending.add(request(`r${index}`, 1_000_010));
    jest.advanceTimersByTime(100);
    expect(pending.hasExpired('r0')).toBe(false);
    expect(pending.hasExpired('r1')).toBe(true);
    expect(pending.hasExpired('r10000')).toBe(true);
    expect(pending.hasExpired('other')).toBe(false);
  });

  it('tells when it is empty', async () => {
    const pending = new PendingRequests(() => undefined);
    await pending.empty();
    pending.add(request('a', 2_000_000));
    pending.add(request('b', 2_000_000));
    const emptied = pending.empty();
    expect(pending.takeAll().map(({ correlationId }) => correlationId)).toEqual(['a', 'b']);
    await emptied;
    pending.close();
  });

  it('waits for a deadline that lies further away than a timer can', () => {
    const expired: string[] = [];
    const pending = new PendingRequests(({ correlationId }) => expired.push(correlationId));
    pending.add(request('far', 1_000_000 + 0x7fff_ffff + 500));
    jest.advanceTimersByTime(0x7fff_ffff);
    expect(expired).toEqual([]);
    jest.advanceTimersByTime(600);
    expect(expired).toEqual(['far']);
  });
});

describe('createDeadlineWheel', () => {
  it('is empty at first', () => {
    const wheel = createDeadlineWheel<string>();
    expect(wheel.nextDue()).toBeUndefined();
    expect(wheel.takeDue(Number.MAX_SAFE_INTEGER)).toEqual([]);
  });

  it('gives an item once, when it is due', () => {
    const wheel = createDeadlineWheel<string>();
    const dueAt = wheel.add(1_000, 'a');
    expect(wheel.nextDue()).toBe(dueAt);
    expect(wheel.takeDue(dueAt - 1)).toEqual([]);
    expect(wheel.takeDue(dueAt)).toEqual(['a']);
    expect(wheel.takeDue(dueAt)).toEqual([]);
    expect(wheel.nextDue()).toBeUndefined();
  });

  it('forgets what is removed, and does not mind what it never had', () => {
    const wheel = createDeadlineWheel<string>();
    wheel.add(1_000, 'a');
    wheel.add(1_000, 'b');
    wheel.remove(1_000, 'a');
    wheel.remove(1_000, 'a');
    wheel.remove(9_000, 'c');
    expect(wheel.takeDue(2_000)).toEqual(['b']);
  });

  it('expires every item after its deadline and less than a slot late', () => {
    const times = fc.array(fc.integer({ min: 0, max: 100_000 }), { maxLength: 50 });
    fc.assert(
      fc.property(times, fc.integer({ min: 0, max: 100_000 }), (deadlines, now) => {
        const wheel = createDeadlineWheel<number>();
        for (const deadline of deadlines) {
          const dueAt = wheel.add(deadline, deadline);
          expect(dueAt).toBeGreaterThanOrEqual(deadline);
          expect(dueAt - deadline).toBeLessThan(SLOT_MS);
        }
        const due = wheel.takeDue(now);
        expect(due.every((deadline) => deadline <= now)).toBe(true);
        // An array may name a deadline twice; the wheel holds each item once.
        const overdue = deadlines.filter((deadline) => deadline + SLOT_MS <= now);
        expect(overdue.every((deadline) => due.includes(deadline))).toBe(true);
        expect(wheel.nextDue() ?? Infinity).toBeGreaterThan(now);
      }),
    );
  });
});
