/** How a rebalance, or the loss of a session, changed what a member owns. */
export interface AssignmentChange {
  readonly owned: readonly number[];
  readonly gained: readonly number[];
  readonly lost: readonly number[];
}

/** Compares two assignments. */
export const assignmentChange = (before: Iterable<number>, after: readonly number[]): AssignmentChange => {
  const previous = new Set(before);
  const owned = new Set(after);
  return {
    owned: after,
    gained: after.filter((partition) => !previous.has(partition)),
    lost: [...previous].filter((partition) => !owned.has(partition)),
  };
};
