/** One-shot timers that are cleared together. */
export class Timers {
  private readonly pending = new Set<NodeJS.Timeout>();

  /** Does the work after the given number of ms, unless cleared before. */
  later(delayMs: number, work: () => void): void {
    const timer = setTimeout(() => {
      this.pending.delete(timer);
      work();
    }, delayMs);
    this.pending.add(timer);
  }

  clear(): void {
    for (const timer of this.pending) clearTimeout(timer);
    this.pending.clear();
  }
}
