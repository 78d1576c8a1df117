import type { RequestEnvelope, RequestSettled } from './requester-options';

/** A request that has been accepted and not yet answered. */
export interface PendingRequest {
  readonly correlationId: string;
  readonly envelope: RequestEnvelope;
  readonly payload: Buffer;
  /** Requests with the same key are handled in the order in which they were sent; undefined: in any order. */
  readonly key?: string | undefined;
  /** Partition on which its answer is awaited; undefined while the request waits to be sent again. */
  replyPartition: number | undefined;
  readonly settled: RequestSettled;
}

/** Number of correlation ids of expired requests to remember, to tell a late reply from an unknown one. */
const EXPIRED_REMEMBERED = 10_000;

/** The requests in flight: found by correlation id, counted by number and bytes, expired by a single timer. */
export class PendingRequests {
  private readonly byId = new Map<string, PendingRequest>();
  private readonly wheel = createDeadlineWheel<PendingRequest>();
  private readonly expired = new Set<string>();
  private heldBytes = 0;
  private timer: NodeJS.Timeout | undefined;
  private timerAt = Infinity;
  private onEmpty: (() => void) | undefined;

  /** `onExpired` is called with each request whose deadline has passed, after it has been removed. */
  constructor(private readonly onExpired: (request: PendingRequest) => void) {}

  get size(): number {
    return this.byId.size;
  }

  /** Bytes of the payloads held. */
  get bytes(): number {
    return this.heldBytes;
  }

  add(request: PendingRequest): void {
    this.byId.set(request.correlationId, request);
    this.heldBytes += request.payload.length;
    const dueAt = this.wheel.add(request.envelope.deadline, request);
    if (dueAt < this.timerAt) this.arm(dueAt);
  }

  /** Removes and returns a request; undefined if it is not, or no longer, pending. */
  take(correlationId: string): PendingRequest | undefined {
    const request = this.byId.get(correlationId);
    if (request === undefined) return undefined;
    this.wheel.remove(request.envelope.deadline, request);
    this.forget(request);
    return request;
  }

  has(request: PendingRequest): boolean {
    return this.byId.get(request.correlationId) === request;
  }

  /** Whether a request of this id has expired not long ago. */
  hasExpired(correlationId: string): boolean {
    return this.expired.has(correlationId);
  }

  values(): IterableIterator<PendingRequest> {
    return this.byId.values();
  }

  /** Removes and returns all. */
  takeAll(): PendingRequest[] {
    return [...this.byId.keys()].flatMap((id) => this.take(id) ?? []);
  }

  /** Resolves when nothing is pending. */
  empty(): Promise<void> {
    if (this.byId.size === 0) return Promise.resolve();
    return new Promise((resolve) => (this.onEmpty = resolve));
  }

  /** Stops the timer. */
  close(): void {
    clearTimeout(this.timer);
    this.timerAt = Infinity;
  }

  private forget(request: PendingRequest): void {
    this.byId.delete(request.correlationId);
    this.heldBytes -= request.payload.length;
    if (this.byId.size === 0) this.onEmpty?.();
  }

  private arm(at: number): void {
    clearTimeout(this.timer);
    this.timerAt = at;
    // A timer can wait at most 2^31 - 1 ms; one that fires early finds nothing due and is armed again.
    const delay = Math.min(Math.max(at - Date.now(), 0), 0x7fff_ffff);
    this.timer = setTimeout(() => {
      this.expire(Date.now());
    }, delay);
  }

  private expire(now: number): void {
    this.timerAt = Infinity;
    for (const request of this.wheel.takeDue(now)) {
      this.forget(request);
      this.remember(request.correlationId);
      this.onExpired(request);
    }
    const next = this.wheel.nextDue();
    if (next !== undefined) this.arm(next);
  }

  private remember(correlationId: string): void {
    this.expired.add(correlationId);
    if (this.expired.size <= EXPIRED_REMEMBERED) return;
    for (const oldest of this.expired) {
      this.expired.delete(oldest);
      return;
    }
  }
}

/** Width of the slots of deadlines, ms: an item expires at most this much late. */
export const SLOT_MS = 16;

/** Entries with deadlines, most of which are removed long before. Adding and removing take constant time. */
interface DeadlineWheel<T> {
  /** `deadline` in epoch ms. Returns the time at which the item will be due: its deadline or up to one slot later. */
  add(deadline: number, item: T): number;
  /** Removes an item, given the deadline with which it was added. */
  remove(deadline: number, item: T): void;
  /** Removes and returns the items that are due. */
  takeDue(now: number): T[];
  /** Epoch ms of the next moment at which something may be due; undefined when empty. */
  nextDue(): number | undefined;
}

/** The slot whose end is the first at or after the deadline: nothing expires early. */
const slotOf = (deadline: number): number => Math.ceil(deadline / SLOT_MS);

/** Makes an empty wheel. It has no timer: the caller polls it. */
export const createDeadlineWheel = <T>(): DeadlineWheel<T> => {
  const slots = new Map<number, Set<T>>();
  return {
    add: (deadline, item) => {
      const slot = slotOf(deadline);
      const items = slots.get(slot);
      if (items === undefined) slots.set(slot, new Set([item]));
      else items.add(item);
      return slot * SLOT_MS;
    },
    remove: (deadline, item) => {
      const slot = slotOf(deadline);
      const items = slots.get(slot);
      if (items?.delete(item) && items.size === 0) slots.delete(slot);
    },
    takeDue: (now) => {
      const due: T[] = [];
      for (const [slot, items] of slots) {
        if (slot * SLOT_MS > now) continue;
        due.push(...items);
        slots.delete(slot);
      }
      return due;
    },
    nextDue: () => {
      let first: number | undefined;
      for (const slot of slots.keys()) if (first === undefined || slot < first) first = slot;
      return first === undefined ? undefined : first * SLOT_MS;
    },
  };
};
