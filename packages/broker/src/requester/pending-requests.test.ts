import { type PendingRequest, PendingRequests } from './pending-requests';

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
  resolve: () => undefined,
  reject: () => undefined,
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
