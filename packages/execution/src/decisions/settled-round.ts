/** Records that are handed over together. It is settled when they are, and all before them. */
export class SettledRound {
  private isSettled = false;
  /** Made for the first who asks. */
  private end: Promise<void> | undefined;
  private resolve: (() => void) | undefined;

  constructor(private previous: SettledRound | undefined) {}

  /** Says how many records are handed over, at least 1. The caller calls what it returns once for each of them, when it is settled. */
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

  /** Undefined where it is. */
  settled(): Promise<void> | undefined {
    if (this.isSettled) return undefined;
    this.end ??= new Promise((resolve) => {
      this.resolve = resolve;
    });
    return this.end;
  }

  /** The same of the round before. */
  before(): Promise<void> | undefined {
    const settled = this.previous?.settled();
    if (settled === undefined) this.previous = undefined;
    return settled;
  }

  private settle(): void {
    this.isSettled = true;
    // Else one that is held would hold all that have ever been before it.
    this.previous = undefined;
    this.resolve?.();
    this.end = this.resolve = undefined;
  }
}
