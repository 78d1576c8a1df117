/** Types of a base fact. */
export const factTypes = ['string', 'number', 'boolean', 'date', 'list', 'object'] as const;
export type FactType = (typeof factTypes)[number];

/** Treatment of a record that does not fit the schema; see statements C20 to C24 of docs/specs/contexts.md. */
export const schemaMismatchPolicies = ['ignore', 'reject', 'store'] as const;
export type SchemaMismatchPolicy = (typeof schemaMismatchPolicies)[number];

/** `complete`: every required fact has a value. */
export const instanceStatuses = ['pending', 'complete'] as const;
export type InstanceStatus = (typeof instanceStatuses)[number];

export const relationTypes = ['has_many', 'has_one', 'belongs_to'] as const;
export type RelationType = (typeof relationTypes)[number];

/** How the run of one bound asset ended, or why there was none. */
export const executionStatuses = [
  'success',
  'evaluation_error',
  'infrastructure_error',
  'skipped_already_run',
  'skipped_in_progress',
] as const;
export type ExecutionStatus = (typeof executionStatuses)[number];

/** Why a submission triggered nothing. */
export const untriggeredReasons = [
  'not_ready',
  'inputs_unchanged',
  'no_bound_assets',
  'auto_execute_disabled',
  'execution_unavailable',
  'execution_in_progress',
] as const;
export type UntriggeredReason = (typeof untriggeredReasons)[number];

/** Bounds of definitions and instances; not settings. */
export const contextLimits = {
  /** UTF-16 units in the name of a fact, a relationship or an instance. */
  factNameLength: 200,
  instanceIdLength: 512,
  /** UTF-16 units in the formula of a derived fact. */
  formulaLength: 10_000,
  /** Maximum number of history entries stored for each tracked fact. */
  historyMost: 10_000,
  /** Bytes, as JSON, of the list of one relationship of an instance that formulas and rules may read. */
  relatedBytes: 16 * 1024 * 1024,
  /** Bounds of the seconds between the last write and the expiry of an instance. */
  ttlLeastSeconds: 60,
  ttlMostSeconds: 30 * 24 * 60 * 60,
  /** Maximum nesting of the value of a fact. */
  valueDepth: 500,
} as const;
