import { ConnectorFailure } from '../connector';

interface PlaceLimits {
  /** Calls that run at once in this process. */
  readonly maxCalls: number;
  /** Calls that run at once to one target. */
  readonly maxCallsPerTarget: number;
  /** Calls that may wait; more are refused. */
  readonly maxWaiting: number;
}

interface Waiting {
  readonly begin: () => void;
}

interface Target {
  running: number;
  readonly waiting: Set<Waiting>;
}

/** Bounds how many calls run at once, in all and by target. Targets with waiting calls take turns, so a slow one holds up its own calls alone. */
export class Places {
  private readonly targets = new Map<string, Target>();
  private count = 0;
  private queued = 0;

  constructor(private readonly limits: PlaceLimits) {}

  get running(): number {
    return this.count;
  }

  get waiting(): number {
    return this.queued;
  }

  /** Resolves when the call may begin, with what gives its place back. Rejects where too many wait, and with the signal's reason. */
  async take(key: string, name: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const target = this.targets.get(key) ?? { running: 0, waiting: new Set<Waiting>() };
    this.targets.set(key, target);
    if (target.waiting.size === 0 && this.hasRoom(target)) this.occupy(target);
    else await this.queue(target, name, signal);
    return () => this.giveBack(key, target);
  }

  private hasRoom(target: Target): boolean {
    return this.count < this.limits.maxCalls && target.running < this.limits.maxCallsPerTarget;
  }

  private occupy(target: Target): void {
    target.running += 1;
    this.count += 1;
  }

  private queue(target: Target, name: string, signal: AbortSignal): Promise<void> {
    if (this.queued >= this.limits.maxWaiting) {
      const message = `${name} is not asked: ${this.limits.maxWaiting} calls wait for a place already; send fewer requests at once, or raise FLOW_MAX_CALLS and FLOW_MAX_CALLS_PER_TARGET.`;
      throw new ConnectorFailure(message, { outcome: 'busy' });
    }
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        target.waiting.delete(entry);
        this.queued -= 1;
        signal.removeEventListener('abort', giveUp);
      };
      const giveUp = (): void => {
        leave();
        reject(signal.reason as Error); // the owner of the signal aborts it with an error
      };
      const entry = {
        begin: () => {
          leave();
          resolve();
        },
      };
      target.waiting.add(entry);
      this.queued += 1;
      signal.addEventListener('abort', giveUp);
    });
  }

  private giveBack(key: string, target: Target): void {
    target.running -= 1;
    this.count -= 1;
    if (target.running === 0 && target.waiting.size === 0) this.targets.delete(key);
    if (this.queued > 0) this.admit();
  }

  private admit(): void {
    for (const [key, target] of this.targets) {
      const [next] = target.waiting;
      if (next === undefined || !this.hasRoom(target)) continue;
      this.occupy(target);
      next.begin();
      // To the end: the next free place is for another target.
      this.targets.delete(key);
      this.targets.set(key, target);
      return;
    }
  }
}
