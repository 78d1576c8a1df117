import { AssignerProtocol, type Cluster, type PartitionAssigner } from 'kafkajs';

const VERSION = 1;

/** Name by which the members of a group agree on this assignment protocol. */
const STICKY_ASSIGNER = 'DecisionStickyAssigner';

/** Interface between the assigner and its consumer. */
interface StickyAssignerHost {
  /** Read at every join. */
  claim(): Claim;
  /** Called once, with the library's view of the cluster, before the consumer connects. */
  cluster(cluster: Cluster): void;
}

/**
 * Lets members keep their partitions through rebalances: each member reports its partitions at every join, and the group's leader moves only as
 * many as needed. For groups whose members all subscribe to the same topics; a claim names partitions of each of them.
 */
export const stickyAssigner =
  (host: StickyAssignerHost): PartitionAssigner =>
  ({ cluster }) => {
    host.cluster(cluster);
    return {
      name: STICKY_ASSIGNER,
      version: VERSION,
      protocol: ({ topics }) => ({
        name: STICKY_ASSIGNER,
        metadata: AssignerProtocol.MemberMetadata.encode({
          version: VERSION,
          topics,
          userData: encodeClaim(host.claim()),
        }),
      }),
      assign: ({ members, topics }) => {
        const claims = members.map(({ memberId, memberMetadata }) => ({
          memberId,
          ...decodeClaim(AssignerProtocol.MemberMetadata.decode(memberMetadata)?.userData),
        }));
        const byTopic = topics.map((topic) => {
          const partitions = cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId);
          return [topic, assignSticky(claims, partitions)] as const;
        });
        return Promise.resolve(
          members.map(({ memberId }) => ({
            memberId,
            memberAssignment: AssignerProtocol.MemberAssignment.encode({
              version: VERSION,
              userData: Buffer.alloc(0),
              assignment: Object.fromEntries(
                byTopic.map(([topic, shares]) => [topic, [...(shares.get(memberId) ?? [])]]),
              ),
            }),
          })),
        );
      },
    };
  };

/** A member of a consumer group and the partitions it claims. */
export interface MemberClaim {
  readonly memberId: string;
  /** As in {@link Claim}. */
  readonly owned: readonly number[];
  /** Epoch ms at which they were assigned to it; 0 for a newcomer. */
  readonly since: number;
}

/**
 * Assigns every partition to one member and moves as few as possible.
 *
 * With P partitions and N members each gets floor(P/N) or, for P mod N of them, one more. Claims are honoured up to these shares, each from its
 * beginning: if two members claim one partition, the later claim wins (the earlier one belongs to a member that was away). Partitions that no
 * member keeps go to the members with the fewest. Equal claims in any order give equal outputs.
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

/** Gives each existing partition to its latest claimant. Members are returned in the order of their ids. */
const honourClaims = (claims: readonly MemberClaim[], existing: ReadonlySet<number>): Map<string, number[]> => {
  const kept = new Map<string, number[]>(
    claims.map(({ memberId }): [string, number[]] => [memberId, []]).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  const taken = new Set<number>();
  for (const { memberId, owned } of [...claims].sort(byAge)) {
    for (const partition of owned) {
      if (!existing.has(partition) || taken.has(partition)) continue;
      taken.add(partition);
      kept.get(memberId)?.push(partition);
    }
  }
  return kept;
};

/** Takes the surplus above its share from each member; the first `extras` of those above keep one more. Returns the partitions taken. */
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

/** Metadata that a member sends to the group's leader when it joins. */
export interface Claim {
  /** Those that it would give up last come first. */
  readonly owned: readonly number[];
  /** Epoch ms at which it was assigned these partitions; 0 if it has none. */
  readonly since: number;
}

export const NO_CLAIM: Claim = { owned: [], since: 0 };

/** A claim with more partitions than this is ignored. */
const MAX_CLAIMED = 100_000;

/** Writes a claim as the user data of a join request. */
export const encodeClaim = ({ owned, since }: Claim): Buffer => Buffer.from(JSON.stringify({ owned, since }));

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0; // the check before makes it a number

/** Reads a claim. Damaged user data, or that of another program, counts as an empty claim: it never fails a rebalance. */
export const decodeClaim = (userData: Buffer | null | undefined): Claim => {
  if (!userData || userData.length === 0) return NO_CLAIM;
  try {
    const { owned, since } = JSON.parse(userData.toString('utf8')) as Record<string, unknown>; // checked field by field below
    if (!Array.isArray(owned) || owned.length > MAX_CLAIMED || !owned.every(isCount) || !isCount(since))
      return NO_CLAIM;
    return { owned, since };
  } catch {
    return NO_CLAIM;
  }
};
