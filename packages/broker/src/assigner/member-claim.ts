/** Metadata that a member sends to the group's leader when it joins. */
export interface Claim {
  readonly owned: readonly number[];
  /** Epoch ms at which it was given these partitions; 0 where it has none. */
  readonly since: number;
}

export const NO_CLAIM: Claim = { owned: [], since: 0 };

/** Partitions of one member beyond which a claim is not believed. */
const MAX_CLAIMED = 100_000;

/** Writes a claim as the user data of a join request. */
export const encodeClaim = ({ owned, since }: Claim): Buffer => Buffer.from(JSON.stringify({ owned, since }));

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0; // the check before makes it a number

/** Reads a claim. User data of another program, or damaged, is no claim: it never fails a rebalance. */
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
