import {
  contextLimits,
  type ExecutionRecord,
  type PackedExecution,
  ServiceError,
  unpackExecutions,
} from '@decision/contracts';
import { query, type Transaction } from '../connection/query';

/** JSON values by the name of their fact. */
export type StoredFacts = Readonly<Record<string, unknown>>;
export type StoredExecutions = Readonly<Record<string, ExecutionRecord>>;

/** Progress of the cascade of a change of an instance (C115). */
export interface ReaderPass {
  /** Fingerprint of the facts whose readers are re-evaluated. */
  readonly fingerprint: string;
  /** Whether every reader was re-evaluated. */
  readonly done: boolean;
  /** The current relationship, and the last reader that was re-evaluated. */
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
  readonly executions: Readonly<Record<string, PackedExecution>>;
  readonly version: string;
  readonly reader_pass: ReaderPass | null;
  readonly expires_at: Date | null;
}

interface InstanceRow extends StateRow {
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Select list of a {@link StateRow}, from `context_instances i`. */
export const stateColumns = 'i.instance_id, i.facts, i.derived, i.executions, i.version, i.reader_pass, i.expires_at';

/** Select list of an {@link InstanceRow}, from `context_instances i`. */
const instanceColumns = `${stateColumns}, i.created_at, i.updated_at`;

/** Condition of instances that have not expired by the clock of the database (C106). */
export const alive = '(i.expires_at is null or i.expires_at > clock_timestamp())';

/** Limits a table of instances to the ids of the statement, in addition to a join with them, so that the index is searched only for those. */
export const among = (table: string): string => `${table}.instance_id = any (cast(:ids as text[]))`;

export const toInstanceState = (row: StateRow): InstanceState => ({
  instanceId: row.instance_id,
  facts: row.facts,
  derived: row.derived,
  executions: unpackExecutions(row.executions),
  version: Number(row.version),
  readerPass: row.reader_pass ?? undefined,
  expiresAt: row.expires_at?.toISOString() ?? null,
});

const toInstanceRecord = (row: InstanceRow): InstanceRecord => ({
  ...toInstanceState(row),
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

const FIND = /* sql */ `
  select ${instanceColumns} from context_instances i
  where i.context_id = cast(:context as uuid) and i.instance_id = any (cast(:ids as text[])) and i.version > 0 and ${alive}
  order by i.instance_id`;

/** The instances of these ids that exist and have not expired, by id. */
export const findInstances = async (
  transaction: Transaction,
  contextId: string,
  instanceIds: readonly string[],
): Promise<readonly InstanceRecord[]> => {
  const rows = await query<InstanceRow>(transaction, FIND, { context: contextId, ids: instanceIds });
  return rows.map(toInstanceRecord);
};

/** Selects instances. */
interface InstanceFilters {
  readonly prefix?: string | undefined;
  /** The required facts, and whether to list the instances that have all of them or the others. */
  readonly completeness?:
    | { readonly required: readonly string[]; readonly defaulted: readonly string[]; readonly complete: boolean }
    | undefined;
}

interface InstancePage {
  readonly instances: readonly InstanceRecord[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

const LIST = /* sql */ `
  select ${instanceColumns} from context_instances i
  where i.context_id = cast(:context as uuid) and i.version > 0 and ${alive}
    and i.instance_id > cast(:after as text) collate "C"
    and i.instance_id >= cast(:prefix as text) collate "C" and i.instance_id < cast(:end as text) collate "C"
    and (cast(:complete as boolean) is null or cast(:complete as boolean) = not exists (
      select from unnest(cast(:required as text[])) as fact
      where coalesce(i.facts -> fact, case when fact = any (cast(:defaulted as text[])) then jsonb 'true' else jsonb 'null' end) = jsonb 'null'
    ))
  order by i.instance_id
  limit :limit`;

/** Instances of a context in the order of their ids. Throws `invalid_request` for a foreign cursor. */
export const listInstances = async (
  transaction: Transaction,
  contextId: string,
  { prefix = '', completeness }: InstanceFilters,
  page: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<InstancePage> => {
  const rows = await query<InstanceRow>(transaction, LIST, {
    context: contextId,
    after: page.cursor === undefined ? '' : readIdCursor(page.cursor),
    prefix,
    end: endOfPrefix(prefix),
    complete: completeness?.complete ?? null,
    required: completeness?.required ?? [],
    defaulted: completeness?.defaulted ?? [],
    limit: page.limit + 1,
  });
  const instances = rows.slice(0, page.limit).map(toInstanceRecord);
  const last = instances.at(-1);
  const nextCursor = rows.length > page.limit && last !== undefined ? writeIdCursor(last.instanceId) : null;
  return { instances, nextCursor };
};

const LAST_CHARACTER = 0x10ffff;
/** No id has this many characters of two UTF-16 units each. */
const BEHIND_ALL_IDS = String.fromCodePoint(LAST_CHARACTER).repeat(contextLimits.instanceIdLength);

/** The first text, in byte order, after all ids with a prefix: gives a range of the index, whatever the planner knows about the prefix. */
const endOfPrefix = (prefix: string): string => {
  const characters = [...prefix];
  for (let last = characters.pop(); last !== undefined; last = characters.pop()) {
    const code = last.codePointAt(0) ?? LAST_CHARACTER;
    if (code === LAST_CHARACTER) continue;
    // Surrogates are not characters in the database.
    return characters.join('') + String.fromCodePoint(code === 0xd7ff ? 0xe000 : code + 1);
  }
  return BEHIND_ALL_IDS;
};

const writeIdCursor = (id: string): string => Buffer.from(JSON.stringify({ after: id })).toString('base64url');

const readIdCursor = (cursor: string): string => {
  try {
    const parsed = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as { after?: unknown } | null;
    if (typeof parsed?.after === 'string' && !parsed.after.includes('\0')) return parsed.after;
  } catch {
    // Treated like any foreign cursor.
  }
  throw new ServiceError('invalid_request', 'The parameter "cursor" is not one that this list has answered.', {
    problems: [{ path: '/cursor', message: 'must be the next_cursor of an earlier page' }],
  });
};

const DELETE = /* sql */ `
  delete from context_instances where context_id = cast(:context as uuid) and instance_id = :id and operation_id is null`;

/** Deletes an instance whose row this transaction holds, with its history, links and registrations. */
export const deleteInstance = async (transaction: Transaction, contextId: string, id: string): Promise<void> => {
  await query(transaction, DELETE, { context: contextId, id });
};

const HAS = /* sql */ `
  select exists (select from context_instances i where i.context_id = cast(:context as uuid)) as any`;
const HOLDS = /* sql */ `
  select fact from unnest(cast(:facts as text[])) as fact
  where exists (
    select from context_instances i
    where i.context_id = cast(:context as uuid) and i.facts -> fact is not null and i.facts -> fact <> 'null'
  )`;

/** Whether a context has instances, and which of the named facts some of them have. */
export const findHeldFacts = async (
  transaction: Transaction,
  contextId: string,
  facts: readonly string[],
): Promise<{ readonly hasInstances: boolean; readonly held: ReadonlySet<string> }> => {
  const [row] = await query<{ any: boolean }>(transaction, HAS, { context: contextId });
  const held =
    row?.any === true && facts.length > 0
      ? await query<{ fact: string }>(transaction, HOLDS, { context: contextId, facts })
      : [];
  return { hasInstances: row?.any ?? false, held: new Set(held.map(({ fact }) => fact)) };
};

const SET_PASS = /* sql */ `
  update context_instances i set reader_pass = cast(p.pass as jsonb)
  from unnest(cast(:ids as text[]), cast(:passes as text[]), cast(:versions as bigint[])) as p (instance_id, pass, version)
  where i.context_id = cast(:context as uuid) and ${among('i')} and i.instance_id = p.instance_id and i.version = p.version`;

/** Progress of the cascade of one version of an instance. */
interface PassOfVersion {
  readonly version: number;
  readonly pass: ReaderPass;
}

/** Saves the progress of the cascades of instances (C115); an instance that was written meanwhile is left to its writer. */
export const saveReaderPasses = async (
  transaction: Transaction,
  contextId: string,
  passes: ReadonlyMap<string, PassOfVersion>,
): Promise<void> => {
  await query(transaction, SET_PASS, {
    context: contextId,
    ids: [...passes.keys()],
    passes: [...passes.values()].map(({ pass }) => JSON.stringify(pass)),
    versions: [...passes.values()].map(({ version }) => String(version)),
  });
};
