import { type ExecutionRecord } from '@decision/contracts';

/** Values by the name of their fact; JSON. */
export type StoredFacts = Readonly<Record<string, unknown>>;
export type StoredExecutions = Readonly<Record<string, ExecutionRecord>>;

/** How far those who read an instance have been told of its facts (C115). */
export interface ReaderPass {
  /** Fingerprint of the facts about which readers are told. */
  readonly fingerprint: string;
  /** Whether everybody has been told. */
  readonly done: boolean;
  /** The relationship whose readers are being told, and the last reader that was. */
  readonly relationshipId?: string;
  readonly after?: string;
}

/** State of an instance, without the times of its writes. Times are ISO 8601 UTC with milliseconds. */
export interface InstanceState {
  readonly instanceId: string;
  readonly facts: StoredFacts;
  readonly derived: StoredFacts;
  readonly executions: StoredExecutions;
  /** Counts its writes. */
  readonly version: number;
  readonly readerPass: ReaderPass | undefined;
  /** Null: it never expires. */
  readonly expiresAt: string | null;
}

/** An instance as it is stored. */
export interface InstanceRecord extends InstanceState {
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface StateRow {
  readonly instance_id: string;
  readonly facts: StoredFacts;
  readonly derived: StoredFacts;
  readonly executions: StoredExecutions;
  readonly version: string;
  readonly reader_pass: ReaderPass | null;
  readonly expires_at: Date | null;
}

export interface InstanceRow extends StateRow {
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Select list of a {@link StateRow}, from `context_instances i`. */
export const stateColumns = 'i.instance_id, i.facts, i.derived, i.executions, i.version, i.reader_pass, i.expires_at';

/** Select list of an {@link InstanceRow}, from `context_instances i`. */
export const instanceColumns = `${stateColumns}, i.created_at, i.updated_at`;

/** Condition of instances that have not expired by the clock of the database (C106). */
export const alive = '(i.expires_at is null or i.expires_at > clock_timestamp())';

/** Limits a table of instances to the ids of the statement, beside a join with them, so that the index can be asked for those alone. */
export const among = (table: string): string => `${table}.instance_id = any (cast(:ids as text[]))`;

export const toInstanceState = (row: StateRow): InstanceState => ({
  instanceId: row.instance_id,
  facts: row.facts,
  derived: row.derived,
  executions: row.executions,
  version: Number(row.version),
  readerPass: row.reader_pass ?? undefined,
  expiresAt: row.expires_at?.toISOString() ?? null,
});

export const toInstanceRecord = (row: InstanceRow): InstanceRecord => ({
  ...toInstanceState(row),
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});
