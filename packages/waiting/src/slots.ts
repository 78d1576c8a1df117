export interface SlotOptions {
  /** Pieces of work that run at once. */
  readonly running: number;
  /** Pieces of work of one key that run at once. Default: as many as in all. */
  readonly runningPerKey?: number;
  /** Pieces of work that may wait; more are refused. */
  readonly waiting: number;
  /**
   * How long a slot rests while work waits, as a multiple of the time that its work took, at most 20 ms: it leaves time to work that needs
   * no slot. Default 0.
   */
  readonly rest?: number;
  /** Makes the error for work that finds the queue full; `name` is the one given with the work. */
  readonly refusal: (name: string) => Error;
}

/** A piece of work that asks for a slot. */
interface SlotRequest {
  /** Work of one key shares slots and one queue. Default: all work has the same key. */
  readonly key?: string;
  /** Name of the work in the error of a refusal. */
  readonly name?: string;
  /** Ends the wait for a slot; without it the wait is bounded only by the work before it. */
  readonly signal?: AbortSignal;
}

/** Bounds how much work runs at once, in all and by key, and how much waits. */
export interface Slots {
  /** Slots in use, resting ones included. */
  readonly running: number;
  /** Pieces of work that wait for a slot. */
  readonly waiting: number;
  /**
   * Resolves with the release of a slot, to be called once. Rejects with the refusal if too much work waits, and with the signal's reason.
   */
  take(request?: SlotRequest): Promise<() => void>;
  /** Runs the work in a slot. Rejects as {@link take} and the work do. */
  run<T>(work: () => Promise<T>, request?: SlotRequest): Promise<T>;
  /** Throws the refusal if {@link run} would, for a caller that wants to refuse before it does anything else. */
  requireRoom(request?: SlotRequest): void;
}

const MAX_REST_MS = 20;

/** Makes slots. Waiting work of one key runs in order; keys with waiting work take turns, so that a slow one delays only its own work. */
export const createSlots = (options: SlotOptions): Slots => new KeyedSlots(options);

interface KeyState {
  running: number;
  /** Starts the work that waits, in order. */
  readonly waiting: Set<() => void>;
}

class KeyedSlots implements Slots {
  /** Keys with running or waiting work; the one whose turn is next comes first. */
  private readonly keys = new Map<string, KeyState>();
  private count = 0;
  private queued = 0;

  constructor(private readonly options: SlotOptions) {}

  get running(): number {
    return this.count;
  }

  get waiting(): number {
    return this.queued;
  }

  requireRoom({ key = '', name = '' }: SlotRequest = {}): void {
    const state = this.keys.get(key);
    if (this.queued >= this.options.waiting && !this.canRun(state)) throw this.options.refusal(name);
  }

  async take(request: SlotRequest = {}): Promise<() => void> {
    const { key = '', signal } = request;
    signal?.throwIfAborted();
    this.requireRoom(request);
    const state = this.keys.get(key) ?? { running: 0, waiting: new Set() };
    this.keys.set(key, state);
    if (this.canRun(state)) this.occupy(state);
    else await this.wait(state, signal);
    const startedAt = performance.now();
    return () => this.release(key, state, performance.now() - startedAt);
  }

  async run<T>(work: () => Promise<T>, request?: SlotRequest): Promise<T> {
    const release = await this.take(request);
    try {
      return await work();
    } finally {
      release();
    }
  }

  private canRun(state: KeyState | undefined): boolean {
    return this.hasSlot(state) && (state?.waiting.size ?? 0) === 0;
  }

  private hasSlot(state: KeyState | undefined): boolean {
    const { running, runningPerKey = running } = this.options;
    return this.count < running && (state?.running ?? 0) < runningPerKey;
  }

  private occupy(state: KeyState): void {
    state.running += 1;
    this.count += 1;
  }

  private wait(state: KeyState, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        state.waiting.delete(start);
        this.queued -= 1;
        signal?.removeEventListener('abort', giveUp);
      };
      const giveUp = (): void => {
        leave();
        reject(signal?.reason as Error); // the owner of the signal aborts it with an error
      };
      const start = (): void => {
        leave();
        resolve();
      };
      state.waiting.add(start);
      this.queued += 1;
      signal?.addEventListener('abort', giveUp);
    });
  }

  private release(key: string, state: KeyState, tookMs: number): void {
    const { rest = 0 } = this.options;
    if (rest === 0 || this.queued === 0) this.free(key, state);
    else setTimeout(() => this.free(key, state), Math.min(MAX_REST_MS, rest * tookMs));
  }

  private free(key: string, state: KeyState): void {
    state.running -= 1;
    this.count -= 1;
    if (state.running === 0 && state.waiting.size === 0) this.keys.delete(key);
    if (this.queued > 0) this.startNext();
  }

  private startNext(): void {
    for (const [key, state] of this.keys) {
      const [start] = state.waiting;
      if (start === undefined || !this.hasSlot(state)) continue;
      this.occupy(state);
      start();
      // To the end: the next free slot is for another key.
      this.keys.delete(key);
      this.keys.set(key, state);
      return;
    }
  }
}
