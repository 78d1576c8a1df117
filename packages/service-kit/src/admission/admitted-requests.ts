import { type ServerResponse } from 'node:http';
import { ServiceError } from '@decision/contracts';
import { type Metrics } from '../metrics/metrics';
import { Admission } from './admission';
import { Pressure } from './pressure';

/** One class of requests: those that share a limit in flight, bytes and slots for large bodies. */
export class AdmissionClass {
  private readonly pressure: Pressure;

  constructor(
    private readonly admission: Admission,
    private readonly largeBodies: LargeBodies,
    now: () => number,
  ) {
    this.pressure = new Pressure(now);
  }

  /** Arrivals per admitted request; see {@link Pressure}. */
  readPressure(): number {
    return this.pressure.read();
  }

  /** Admits a request whose caller is known. Throws `overloaded`. */
  enter(): AdmittedRequest {
    try {
      this.admission.enter();
    } catch (error) {
      this.pressure.countRefused();
      throw error;
    }
    this.pressure.countAdmitted();
    return new AdmittedRequest(this.admission, this.largeBodies);
  }

  /** Takes over a request of another class with its bytes. Throws `overloaded`, and then takes nothing. */
  takeOver(bodySize: number, heldBytes: number): TakenResources {
    const { admission, largeBodies } = this;
    const isLarge = largeBodies.take(bodySize);
    try {
      admission.hold(heldBytes);
      try {
        admission.enter();
      } catch (error) {
        admission.add(-heldBytes);
        throw error;
      }
    } catch (error) {
      if (isLarge) largeBodies.giveBack();
      throw error;
    }
    return { admission, largeBodies, isLarge };
  }
}

/** The admission that counts the resources of a request. */
interface TakenResources {
  readonly admission: Admission;
  readonly largeBodies: LargeBodies;
  /** Whether it has a slot for large bodies. */
  readonly isLarge: boolean;
}

/** Resources of one admitted request: a slot in flight, the bytes of its body and its answer, and possibly a slot for large bodies. */
export class AdmittedRequest {
  private isLarge = false;
  /** Bytes held of the body and of the answer. */
  private body = 0;
  private answer = 0;
  private bodySize = 0;
  private answerMs: number | undefined;

  constructor(
    private admission: Admission,
    private largeBodies: LargeBodies,
  ) {}

  /** Reserves the whole body, given its size so far. Throws `overloaded`. */
  onSize(bytes: number): void {
    this.holdBody(bytes - this.bodySize);
    this.bodySize = bytes;
    this.isLarge ||= this.largeBodies.take(bytes);
  }

  /**
   * Moves the request with its resources to another class, to which its latency is then reported. Throws `overloaded` if that class has no
   * room; the request then stays in its class.
   */
  moveTo(target: AdmissionClass): void {
    const held = this.body + this.answer;
    const taken = target.takeOver(this.bodySize, held);
    this.releaseLarge();
    this.admission.leave(held, undefined);
    this.admission = taken.admission;
    this.largeBodies = taken.largeBodies;
    this.isLarge = taken.isLarge;
  }

  /** As {@link onSize}, for a body that holds at most `mostHeld` bytes in memory at once. */
  onStreamed(bytes: number, mostHeld: number): void {
    const more = Math.min(bytes, mostHeld) - this.body;
    this.holdBody(more);
    this.isLarge ||= this.largeBodies.take(bytes);
  }

  /** An estimate of the answer does not refuse a body if no other request holds memory. Throws `overloaded`. */
  private holdBody(more: number): void {
    if (!this.admission.tryHold(more)) {
      if (!this.isAlone() || this.body + more > this.mostBytes) throw this.refusal();
      this.admission.add(more);
    }
    this.body += more;
  }

  /** Reserves bytes of the answer before they exist, if they fit. */
  tryHoldAnswer(bytes: number): boolean {
    if (!this.admission.tryHold(bytes)) return false;
    this.answer += bytes;
    return true;
  }

  /** Adds bytes of the answer that exist, or removes those that no longer do. */
  addAnswerBytes(bytes: number): void {
    this.admission.add(bytes);
    this.answer += bytes;
  }

  /** Releases bytes of the body that are no longer needed. */
  releaseBody(bytes: number): void {
    const done = Math.min(bytes, this.body);
    this.admission.add(-done);
    this.body -= done;
  }

  /** Whether no other request holds any bytes. */
  isAlone(): boolean {
    return this.admission.bytesInFlight <= this.body + this.answer;
  }

  /** Bytes that all requests together may hold. */
  get mostBytes(): number {
    return this.admission.mostBytes;
  }

  /** The refusal of a request whose bytes do not fit. */
  refusal(): Error {
    return this.admission.refusalOfBytes();
  }

  /** Replaces the body, which is no longer needed, by the answer, which exists already. */
  replaceBodyWithAnswer(bytes: number): void {
    this.admission.add(bytes - this.body - this.answer);
    this.body = 0;
    this.answer = bytes;
  }

  /** Reports the latency. Only that of one input, or of one instance, shows how busy the system is. */
  reportAnswerTime(ms: number): void {
    this.answerMs = ms;
  }

  /** Releases everything once the answer has left this process, or at once if it has. To be called once. */
  releaseAfter(response: ServerResponse): void {
    if (response.writableLength === 0 || response.destroyed) this.release();
    else response.once('close', () => this.release());
  }

  private release(): void {
    this.releaseLarge();
    this.admission.leave(this.body + this.answer, this.answerMs);
  }

  private releaseLarge(): void {
    if (this.isLarge) this.largeBodies.giveBack();
    this.isLarge = false;
  }
}

interface LargeBodyLimits {
  /** A body above this size, decompressed, is large; bytes. */
  readonly thresholdBytes: number;
  readonly maxConcurrent: number;
}

/** Approximate duration of a large request, s; a refused client that retried sooner would be refused again. */
const RETRY_AFTER_SECONDS = 2;

/** Bounds the concurrent requests with a large body: each holds its body and its results in memory. */
class LargeBodies {
  private taken = 0;

  constructor(private readonly limits: LargeBodyLimits) {}

  /** Takes a slot if a body of this size is large, and answers whether it is. Throws `overloaded` if no slot is free. */
  take(bytes: number): boolean {
    if (bytes <= this.limits.thresholdBytes) return false;
    if (this.taken >= this.limits.maxConcurrent) throw this.refusal();
    this.taken += 1;
    return true;
  }

  giveBack(): void {
    this.taken -= 1;
  }

  private refusal(): ServiceError {
    const { maxConcurrent, thresholdBytes } = this.limits;
    return new ServiceError(
      'overloaded',
      `${maxConcurrent} requests with a body above ${thresholdBytes} bytes are being worked on, as many as one process takes at once.`,
      { retry_after_seconds: RETRY_AFTER_SECONDS },
    );
  }
}

/** Settings of {@link admissionSettings}, and the target of the service. */
interface AdmissionConfig {
  /** See {@link Admission}, ms. */
  readonly admissionTargetMs: number;
  readonly maxInFlightRequests: number;
  readonly maxInFlightBytes: number;
  readonly largeBodyThresholdBytes: number;
  readonly largeBodyMaxConcurrent: number;
}

/** Settings of requests for flows that reach out, besides those for large bodies, of which each class has its own slots. */
type FlowAdmissionConfig = Pick<AdmissionConfig, 'largeBodyThresholdBytes' | 'largeBodyMaxConcurrent'> & {
  readonly flowAdmissionTargetMs: number;
  readonly flowMaxInFlightRequests: number;
  readonly flowMaxInFlightBytes: number;
};

/** The configured admission of this process, with its state in metrics. */
export const openAdmission = (config: AdmissionConfig, metrics: Metrics): AdmissionClass => {
  const requests = openClass(config, {
    limit: metrics.gauge({
      name: 'decision_admission_limit',
      help: 'Requests in flight beyond which requests are answered 429, as measured latency has it.',
    }),
    meanMs: metrics.gauge({
      name: 'decision_admission_mean_answer_ms',
      help: 'Mean time to the answer of one input or one instance, in the last window of the admission.',
    }),
  });
  metrics.gauge({
    name: 'decision_admission_pressure',
    help: 'Requests received for each admitted one in the last 15 seconds; 0 if none was refused.',
    collect() {
      this.set(requests.readPressure());
    },
  });
  return requests;
};

/**
 * A second admission, for requests for flows that reach out: slow external systems neither occupy the slots of other requests nor lower
 * their limit. docs/adr/0036-flows-that-reach-out-are-admitted-apart.md.
 */
export const openFlowAdmission = (config: FlowAdmissionConfig, metrics: Metrics): AdmissionClass =>
  openClass(
    {
      ...config,
      admissionTargetMs: config.flowAdmissionTargetMs,
      maxInFlightRequests: config.flowMaxInFlightRequests,
      maxInFlightBytes: config.flowMaxInFlightBytes,
    },
    {
      limit: metrics.gauge({
        name: 'decision_flow_admission_limit',
        help: 'Requests in flight for flows that reach out beyond which such requests are answered 429.',
      }),
      meanMs: metrics.gauge({
        name: 'decision_flow_admission_mean_answer_ms',
        help: 'Mean time to the answer of one input of a flow that reaches out, in the last window of the admission.',
      }),
    },
  );

/** Report of a finished window. */
interface AdmissionGauges {
  readonly limit: { set(value: number): void };
  readonly meanMs: { set(value: number): void };
}

const now = (): number => performance.now();

const openClass = (config: AdmissionConfig, { limit, meanMs }: AdmissionGauges): AdmissionClass => {
  const admission = new Admission(
    { targetMs: config.admissionTargetMs, maxRequests: config.maxInFlightRequests, maxBytes: config.maxInFlightBytes },
    now,
    (window) => {
      limit.set(window.limit);
      meanMs.set(window.meanMs);
    },
  );
  const { largeBodyThresholdBytes: thresholdBytes, largeBodyMaxConcurrent: maxConcurrent } = config;
  return new AdmissionClass(admission, new LargeBodies({ thresholdBytes, maxConcurrent }), now);
};
