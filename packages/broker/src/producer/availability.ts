/** Whether the broker counts as reachable: an absence counts only after it has lasted for some time. */
export class Availability {
  private available: boolean;
  private timer: NodeJS.Timeout | undefined;

  /**
   * `absentAfterMs` is how long an absence must last; undefined: it never counts. If given, the broker counts as absent until it has been found
   * once. `onChange` is also called if the availability has not changed.
   */
  constructor(
    private readonly absentAfterMs: number | undefined,
    private readonly onChange: (available: boolean) => void,
  ) {
    this.available = absentAfterMs === undefined;
  }

  isAvailable(): boolean {
    return this.available;
  }

  /** The broker has been found. */
  found(): void {
    this.close();
    this.available = true;
    this.onChange(true);
  }

  /** The broker has been lost. */
  lost(): void {
    if (this.absentAfterMs === undefined || !this.available) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.available = false;
      this.onChange(false);
    }, this.absentAfterMs);
  }

  /** Stops the timer. */
  close(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
