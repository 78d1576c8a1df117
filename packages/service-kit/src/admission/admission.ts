import { ServiceError } from '@decision/contracts';

interface AdmissionLimits {
  /** Mean latency above which fewer requests are admitted, ms. */
  readonly targetMs: number;
  /** Hard bound of requests in flight, regardless of latency. */
  readonly maxRequests: number;
  /** Maximum bytes of bodies and answers in flight. */
  readonly maxBytes: number;
}

/** Report to an observer at the end of a window. */
export interface AdmissionWindow {
  readonly limit: number;
  readonly inFlight: number;
  readonly meanMs: number;
}

/** Requests in flight that are always admitted: so few do not form a queue, however slow their rules or not yet compiled code are. */
const MIN_REQUESTS = 100;
const FIRST_REQUESTS = 256;
const WINDOW_MS = 100;
/** A window with fewer answers than this is ignored. */
const MIN_ANSWERS = 10;
const DECREASE = 0.85;
const INCREASE = 1.1;
/** The limit grows only while this fraction of it is used; otherwise the latency would say nothing about it. */
const USED = 0.8;
const MAX_RETRY_SECONDS = 30;

/**
 * Adapts the limit of requests in flight to the measured latency: at the end of each window the limit falls if the mean latency exceeded
 * the target, and rises if it did not although the limit was nearly reached. Refusing early keeps queues short, and so the latency of
 * admitted requests.
 */
export class Admission {
  private limit: number;
  private inFlight = 0;
  private bytes = 0;
  private peak = 0;
  private answers = 0;
  private totalMs = 0;
  private windowBegan: number;
  private answeredPerMs = 0;
  private lastRefusal:
    { readonly inFlight: number; readonly seconds: number; readonly error: ServiceError } | undefined;

  /** `now` answers ms of a clock that never goes back. */
  constructor(
    private readonly limits: AdmissionLimits,
    private readonly now: () => number,
    private readonly onWindow: (window: AdmissionWindow) => void = () => undefined,
  ) {
    this.limit = Math.min(FIRST_REQUESTS, limits.maxRequests);
    this.windowBegan = now();
  }

  /** Admits a request. Throws `overloaded`. */
  enter(): void {
    if (this.inFlight >= Math.min(this.limit, this.limits.maxRequests)) throw this.refusalOfRequest();
    this.inFlight += 1;
    if (this.inFlight > this.peak) this.peak = this.inFlight;
  }

  /** Adds to the bytes in flight. Throws `overloaded`, and then adds nothing. */
  hold(bytes: number): void {
    if (!this.tryHold(bytes)) throw this.refusalOfBytes();
  }

  /** Adds to the bytes in flight if they fit. */
  tryHold(bytes: number): boolean {
    if (this.bytes + bytes > this.limits.maxBytes) return false;
    this.bytes += bytes;
    return true;
  }

  refusalOfBytes(): ServiceError {
    const sentence = `The bodies and answers in flight would exceed ${this.limits.maxBytes} bytes.`;
    return overloaded(sentence, this.secondsToWait());
  }

  get mostBytes(): number {
    return this.limits.maxBytes;
  }

  get bytesInFlight(): number {
    return this.bytes;
  }

  /** Adds or removes bytes that are already in memory: these are never refused. */
  add(bytes: number): void {
    this.bytes += bytes;
  }

  /**
   * Records the end of a request; `answerMs` only if its time is representative: that of one input that a worker answered, or of one
   * instance.
   */
  leave(bytes: number, answerMs: number | undefined): void {
    this.inFlight -= 1;
    this.bytes -= bytes;
    if (answerMs === undefined) return;
    this.answers += 1;
    this.totalMs += answerMs;
    const now = this.now();
    if (now - this.windowBegan >= WINDOW_MS && this.answers >= MIN_ANSWERS) this.endWindow(now);
  }

  private endWindow(now: number): void {
    const meanMs = this.totalMs / this.answers;
    if (meanMs > this.limits.targetMs) {
      this.limit = Math.max(MIN_REQUESTS, Math.floor(Math.min(this.limit, this.peak) * DECREASE));
    } else if (this.peak >= this.limit * USED) {
      this.limit = Math.min(this.limits.maxRequests, Math.ceil(this.limit * INCREASE));
    }
    this.answeredPerMs = this.answers / (now - this.windowBegan);
    this.onWindow({ limit: this.limit, inFlight: this.inFlight, meanMs });
    this.answers = 0;
    this.totalMs = 0;
    this.peak = this.inFlight;
    this.windowBegan = now;
  }

  /** One shared error for equal refusals: under overload, creating an error with its stack would be a tenth of the cost of a refusal. */
  private refusalOfRequest(): ServiceError {
    const seconds = this.secondsToWait();
    const { lastRefusal } = this;
    if (lastRefusal?.inFlight === this.inFlight && lastRefusal.seconds === seconds) return lastRefusal.error;
    const sentence = `${this.inFlight} requests are in flight, as many as are answered in good time at the moment.`;
    const error = overloaded(sentence, seconds);
    this.lastRefusal = { inFlight: this.inFlight, seconds, error };
    return error;
  }

  /** The time that the requests in flight take at the measured rate; a rate of zero counts as slow. */
  private secondsToWait(): number {
    const silentMs = this.now() - this.windowBegan;
    const drainMs = this.answeredPerMs > 0 ? this.inFlight / this.answeredPerMs : 1_000;
    return Math.min(MAX_RETRY_SECONDS, Math.max(1, Math.ceil(Math.max(drainMs, silentMs) / 1_000)));
  }
}

const overloaded = (sentence: string, seconds: number): ServiceError =>
  new ServiceError('overloaded', `${sentence} Try again in ${seconds} s.`, { retry_after_seconds: seconds });
