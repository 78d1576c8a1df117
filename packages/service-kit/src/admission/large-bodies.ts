import { ServiceError } from '@decision/contracts';

interface LargeBodyLimits {
  /** A body above this size, decompressed, is large; bytes. */
  readonly thresholdBytes: number;
  readonly maxConcurrent: number;
}

/** The place that one request may take among the large ones. */
interface LargeBodyPlace {
  /** Told of the size so far; takes a place once it is large. Throws `overloaded` where none is free. */
  readonly onSize: (bytes: number) => void;
  /** Gives the place back. Idempotent. */
  readonly release: () => void;
}

/** Large requests that are tried again at once would find the same; one that is worked on takes about this long, s. */
const RETRY_AFTER_SECONDS = 2;

/** Bounds how many requests with a large body are worked on at once: each holds its body, and its results, in memory. */
export class LargeBodies {
  private taken = 0;

  constructor(private readonly limits: LargeBodyLimits) {}

  /** A place for a request that has just begun. */
  place(): LargeBodyPlace {
    let isTaken = false;
    return {
      onSize: (bytes) => {
        if (isTaken || bytes <= this.limits.thresholdBytes) return;
        if (this.taken >= this.limits.maxConcurrent) throw this.refusal();
        this.taken += 1;
        isTaken = true;
      },
      release: () => {
        if (isTaken) this.taken -= 1;
        isTaken = false;
      },
    };
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
