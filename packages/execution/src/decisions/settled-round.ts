/** Records that are sent together. A round is settled when its records and all earlier rounds are. */
export class SettledRound {
  private isSettled = false;
  /** Made at the first call. */
  private end: Promise<void> | undefined;
  private resolve: (() => void) | undefined;

  constructor(private previous: SettledRound | undefined) {}

  /** Sets the number of records, at least 1. The returned function must be called once for each of them, when it is settled. */
  endsAfter(records: number): () => void {
    let left = records;
    return () => {
      left -= 1;
      if (left > 0) return;
      const before = this.before();
      if (before === undefined) this.settle();
      else void before.then(() => this.settle());
    };
  }

  /** Undefined if it is settled. */
  settled(): Promise<void> | undefined {
    if (this.isSettled) return undefined;
    this.end ??= new Promise((resolve) => {
      this.resolve = resolve;
    });
    return this.end;
  }

  /** The same for the previous round. */
  before(): Promise<void> | undefined {
    const settled = this.previous?.settled();
    if (settled === undefined) this.previous = undefined;
    return settled;
  }

  private settle(): void {
    this.isSettled = true;
    // Otherwise a referenced round would keep all earlier ones in memory.
    this.previous = undefined;
    this.resolve?.();
    this.end = this.resolve = undefined;
  }
}
