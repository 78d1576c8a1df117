/** State of a partition during one spell of owning it. */
interface Spell {
  /** The next expected offset. */
  expected: number | undefined;
  /** The first offset that arrived. */
  first: number | undefined;
}

/**
 * Finds messages that a topic deleted before a group read them. Only age removes messages from the topic, so they are the offsets between the
 * group's committed, or last read, offset and the next arrival. Each gap is reported once.
 */
export class GoneMessages {
  private readonly spells = new Map<number, Spell>();

  constructor(
    private readonly committed: (partitions: readonly number[]) => Promise<ReadonlyMap<number, number>>,
    private readonly onGone: (messages: number) => void,
  ) {}

  /** The member's partitions have changed. */
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

  /** A message has arrived. Offsets ascend within a spell of owning its partition. */
  arrived(partition: number, offset: number): void {
    const spell = this.spells.get(partition);
    if (spell === undefined) return;
    spell.first ??= offset;
    if (spell.expected !== undefined) this.compare(spell.expected, offset);
    spell.expected = offset + 1;
  }

  /** If the broker cannot be reached, messages lost before the spell are not reported. */
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
