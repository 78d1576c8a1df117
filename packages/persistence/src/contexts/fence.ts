/** Instances that an operation holds, as it was admitted. */
export interface HeldInstances {
  readonly operationId: string;
  /** How often it had been taken over when this holder began; 0 for who was admitted. */
  readonly takeovers: number;
  /** By instance id. */
  readonly fences: ReadonlyMap<string, number>;
}

/** Whether the operation still holds the row `i` under the fence that its holder knows. */
export const FENCED =
  'i.operation_id = cast(:operation as uuid) and i.fence = cast(cast(:fences as jsonb) ->> i.instance_id as bigint)';

/** What {@link FENCED} and the statements around it ask for. */
export const heldBindings = ({ operationId, takeovers, fences }: HeldInstances) => ({
  operation: operationId,
  takeovers,
  fences: JSON.stringify(Object.fromEntries(fences)),
});

/** An operation ends with its holder: who took it over since then ends it himself. */
export const END_OPERATION = /* sql */ `
  delete from context_operations where operation_id = cast(:operation as uuid) and takeovers = cast(:takeovers as integer)`;
