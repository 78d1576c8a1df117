/** A member of a consumer group and the partitions it says it has. */
export interface MemberClaim {
  readonly memberId: string;
  readonly owned: readonly number[];
  /** Epoch ms at which it was given them; 0 for a newcomer. */
  readonly since: number;
}

/**
 * Gives every partition to one member, moving as few as it can.
 *
 * With P partitions and N members each gets floor(P/N) or, P mod N of them, one more. Claims are honoured up to these shares: where two members claim
 * one partition the later claim wins (the earlier is that of a member which was away). Partitions that no member keeps go to the members that have
 * least. Equal inputs in any order give equal outputs.
 */
export const assignSticky = (
  claims: readonly MemberClaim[],
  partitions: readonly number[],
): ReadonlyMap<string, readonly number[]> => {
  if (claims.length === 0) return new Map();
  const share = Math.floor(partitions.length / claims.length);
  const extras = partitions.length - share * claims.length;
  const kept = honourClaims(claims, new Set(partitions));
  const free = trimToShares(kept, share, extras);
  const taken = new Set([...kept.values()].flat());
  free.push(...partitions.filter((partition) => !taken.has(partition)));
  fillLeastLoaded(kept, [...new Set(free)].sort(ascending));
  for (const owned of kept.values()) owned.sort(ascending);
  return kept;
};

const ascending = (a: number, b: number): number => a - b;

const byAge = (a: MemberClaim, b: MemberClaim): number => b.since - a.since || (a.memberId < b.memberId ? -1 : 1);

/** Each existing partition to the latest of those who claim it. Members come out in the order of their ids. */
const honourClaims = (claims: readonly MemberClaim[], existing: ReadonlySet<number>): Map<string, number[]> => {
  const owners = new Map<number, string>();
  for (const { memberId, owned } of [...claims].sort(byAge)) {
    for (const partition of owned)
      if (existing.has(partition) && !owners.has(partition)) owners.set(partition, memberId);
  }
  const kept = new Map<string, number[]>(
    claims.map(({ memberId }): [string, number[]] => [memberId, []]).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  for (const partition of [...owners.keys()].sort(ascending)) kept.get(owners.get(partition) ?? '')?.push(partition);
  return kept;
};

/** Takes from each member what is above its share; the first `extras` of those above keep one more. Returns what was taken. */
const trimToShares = (kept: ReadonlyMap<string, number[]>, share: number, extras: number): number[] => {
  const freed: number[] = [];
  let extrasLeft = extras;
  for (const owned of kept.values()) {
    const limit = owned.length > share && extrasLeft > 0 ? share + 1 : share;
    if (owned.length > share && extrasLeft > 0) extrasLeft -= 1;
    freed.push(...owned.splice(limit));
  }
  return freed;
};

const fillLeastLoaded = (kept: ReadonlyMap<string, number[]>, free: readonly number[]): void => {
  const members = [...kept.values()];
  for (const partition of free) {
    members.reduce((least, owned) => (owned.length < least.length ? owned : least)).push(partition);
  }
};
