/** Silence beyond the normal after which the broker counts as lost, and the interval of checks, ms. */
const SILENCE_MS = 15_000;
const WATCH_MS = 1_000;

interface SilenceWatchOptions {
  /** How long a healthy broker may currently be silent, ms. */
  readonly normalSilenceMs: () => number;
  /** Called at each check that finds the broker silent for too long. */
  readonly onSilent: (reason: Error) => void;
}

/** Notices a broker that no longer answers although its connections stay open. */
export class SilenceWatch {
  private timer: NodeJS.Timeout | undefined;
  private quietSince = 0;
  private lookedAt = 0;
  private heardAt = 0;

  constructor(private readonly options: SilenceWatchOptions) {}

  /** Whether it has been started and not stopped. */
  isRunning(): boolean {
    return this.timer !== undefined;
  }

  start(): void {
    this.restart();
    this.lookedAt = this.quietSince;
    this.timer ??= setInterval(() => {
      this.look(Date.now());
    }, WATCH_MS);
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** Counts silence from now on. */
  restart(): void {
    this.quietSince = Date.now();
  }

  /** The broker has answered. */
  heard(): void {
    this.restart();
    this.heardAt = this.quietSince;
  }

  /** Epoch ms at which the broker last answered; 0 if never. */
  lastHeardAt(): number {
    return this.heardAt;
  }

  private look(now: number): void {
    // After a pause of this process itself (a long computation, a sleeping machine) the broker's answers are still unread.
    const overslept = now - this.lookedAt > 3 * WATCH_MS;
    this.lookedAt = now;
    if (overslept) this.quietSince = now;
    if (now - this.quietSince <= this.options.normalSilenceMs() + SILENCE_MS) return;
    const seconds = Math.round((now - this.quietSince) / 1_000);
    this.options.onSilent(new Error(`the broker has not answered for ${seconds} seconds`));
  }
}
