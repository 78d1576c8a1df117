/** What is known of a partition during one spell of owning it. */
interface Spell {
  /** Offset that is expected next. */
  expected: number | undefined;
  /** The first offset that arrived. */
  first: number | undefined;
}

/**
 * Finds messages that a topic gave up before a group read them: nothing but age takes messages out of it, so they are the offsets between what
 * the group had committed, or read, and what arrives next. Told once for each gap.
 */
export class GoneMessages {
  private readonly spells = new Map<number, Spell>();

  constructor(
    private readonly committed: (partitions: readonly number[]) => Promise<ReadonlyMap<number, number>>,
    private readonly onGone: (messages: number) => void,
  ) {}

  /** The member owns other partitions than before. */
  assigned(gained: readonly number[], lost: readonly number[]): void {
    for (const partition of lost) this.spells.delete(partition);
    if (gained.length === 0) return;
    const begun = gained.map((partition) => {
      const spell: Spell = { expected: undefined, first: undefined };
      this.spells.set(partition, spell);
      return [partition, spell] as const;
    });
    void this.compareCommitted(begun);
  }

  /** A message has arrived. Within a spell of owning its partition, offsets rise. */
  arrived(partition: number, offset: number): void {
    const spell = this.spells.get(partition);
    if (spell === undefined) return;
    spell.first ??= offset;
    if (spell.expected !== undefined) this.compare(spell.expected, offset);
    spell.expected = offset + 1;
  }

  /** Where the broker cannot be asked, what is gone from before the spell is not told. */
  private async compareCommitted(begun: readonly (readonly [number, Spell])[]): Promise<void> {
    const offsets = await this.committed(begun.map(([partition]) => partition)).catch(() => new Map<number, number>());
    for (const [partition, spell] of begun) {
      const offset = offsets.get(partition);
      if (offset === undefined) continue;
      if (spell.first !== undefined) this.compare(offset, spell.first);
      spell.expected ??= offset;
    }
  }

  private compare(expected: number, offset: number): void {
    if (offset > expected) this.onGone(offset - expected);
  }
}
