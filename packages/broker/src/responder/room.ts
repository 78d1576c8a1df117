/** How much may be inside at the same time. */
interface RoomLimits {
  readonly items: number;
  readonly bytes: number;
}

/**
 * Counts contents against two bounds, with water marks: full once a bound is reached, and no longer full when both counts have fallen to half. It
 * does not enforce the bounds: callers check before they enter.
 */
export class Room {
  private inside = 0;
  private held = 0;
  private full = false;
  private waitingForRoom: (() => void)[] = [];
  private waitingForEmpty: (() => void)[] = [];

  constructor(private readonly limits: RoomLimits) {}

  get items(): number {
    return this.inside;
  }

  get bytes(): number {
    return this.held;
  }

  enter(bytes: number): void {
    this.inside += 1;
    this.held += bytes;
    if (this.inside >= this.limits.items || this.held >= this.limits.bytes) this.full = true;
  }

  leave(bytes: number): void {
    this.inside -= 1;
    this.held -= bytes;
    if (this.full && this.inside <= this.limits.items / 2 && this.held <= this.limits.bytes / 2) {
      this.full = false;
      this.waitingForRoom = release(this.waitingForRoom);
    }
    if (this.inside === 0) this.waitingForEmpty = release(this.waitingForEmpty);
  }

  isFull(): boolean {
    return this.full;
  }

  /** Resolves when it is not full. */
  hasRoom(): Promise<void> {
    return this.full ? new Promise((resolve) => this.waitingForRoom.push(resolve)) : Promise.resolve();
  }

  /** Resolves when nothing is inside. */
  isEmpty(): Promise<void> {
    return this.inside === 0 ? Promise.resolve() : new Promise((resolve) => this.waitingForEmpty.push(resolve));
  }
}

const release = (waiting: readonly (() => void)[]): [] => {
  for (const resolve of waiting) resolve();
  return [];
};
