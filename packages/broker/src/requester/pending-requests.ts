import { type ServiceError, type SolutionRequestEnvelope } from '@decision/contracts';
import { createDeadlineWheel } from './deadline-wheel';

/** A request that has been accepted and not answered. */
export interface PendingRequest {
  readonly correlationId: string;
  readonly envelope: Omit<SolutionRequestEnvelope, 'correlationId' | 'requester' | 'replyPartition'>;
  readonly payload: Buffer;
  /** Requests of one key are taken in the order in which they were sent; undefined: of no order. */
  readonly key?: string | undefined;
  /** Partition on which its answer is awaited; undefined while the request waits to be sent again. */
  replyPartition: number | undefined;
  readonly resolve: (reply: Buffer) => void;
  readonly reject: (error: ServiceError) => void;
}

/** Correlation ids of expired requests that are remembered, to tell a late reply from an unknown one. */
const EXPIRED_REMEMBERED = 10_000;

/** The requests in flight: found by correlation id, counted in number and bytes, expired by one timer for all. */
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

  /** Bytes of the payloads that are held. */
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
    // A timer can wait no longer than 2^31 - 1 ms; one that fires early finds nothing due and is armed again.
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
