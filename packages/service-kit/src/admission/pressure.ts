const WINDOW_MS = 15_000;
/** Refusals within this time share one entry. */
const STEP_MS = 1_000;

interface Entry {
  readonly at: number;
  /** Earlier admitted and refused requests. */
  readonly admitted: number;
  readonly refused: number;
}

/**
 * Arrivals per admitted request: 1.5 if a third is refused, 0 if none has been refused for 15 s. An autoscaler that multiplies the number
 * of workers by it adds as many as are missing. A consumer lag does not show that, since refusals keep it short
 * (docs/adr/0073-workers-are-scaled-by-what-is-refused.md).
 */
export class Pressure {
  private admitted = 0;
  private refused = 0;
  /** Oldest first, at most one per second. */
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
