/**
 * Counts the memory of what settlings have tried, for all of a process together: each is bounded by itself, but many can be under way at once. Who takes
 * part says when what it took is free again.
 */
export class TriedMemory {
  private taken = 0;

  /** @param limit Bytes that all of them together may take. */
  constructor(private readonly limit: number) {}

  get isFull(): boolean {
    return this.taken >= this.limit;
  }

  get takenBytes(): number {
    return this.taken;
  }

  take(bytes: number): void {
    this.taken += bytes;
  }

  free(bytes: number): void {
    this.taken -= bytes;
  }
}
