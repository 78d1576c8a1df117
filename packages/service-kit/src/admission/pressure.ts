const WINDOW_MS = 15_000;
/** Refusals within this time share one entry. */
const STEP_MS = 1_000;

interface Entry {
  readonly at: number;
  /** Requests that had been admitted and refused before. */
  readonly admitted: number;
  readonly refused: number;
}

/**
 * How many requests come for each one that is admitted: 1.5 where a third is refused, 0 where none has been refused for 15 s. An autoscaler that
 * multiplies the number of workers by it adds as many as were missing. A lag does not show that, since refusals keep it short.
 */
export class Pressure {
  private admitted = 0;
  private refused = 0;
  /** From the oldest on, at most one a second. */
  private entries: Entry[] = [];

  /** `now` answers ms of a clock that never goes back. */
  constructor(private readonly now: () => number) {}

  countAdmitted(): void {
    this.admitted += 1;
  }

  countRefused(): void {
    const at = this.now();
    const last = this.entries.at(-1);
    if (last === undefined || at - last.at >= STEP_MS) {
      this.forgetBefore(at - WINDOW_MS);
      this.entries.push({ at, admitted: this.admitted, refused: this.refused });
    }
    this.refused += 1;
  }

  read(): number {
    this.forgetBefore(this.now() - WINDOW_MS);
    const [first] = this.entries;
    if (first === undefined) return 0;
    const refused = this.refused - first.refused;
    return (this.admitted - first.admitted + refused) / Math.max(this.admitted - first.admitted, 1);
  }

  private forgetBefore(at: number): void {
    while (this.entries[0] !== undefined && this.entries[0].at < at) this.entries.shift();
  }
}
