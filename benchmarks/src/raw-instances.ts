import { openDatabase } from '@decision/persistence';

/** One instance as the database stores it. */
interface RawInstance {
  readonly id: string;
  readonly facts: object;
}

/** An instance with the records of its executions, as the database stores them. */
export interface DecidedInstance extends RawInstance {
  readonly executions: object;
}

/** Only the statements that are needed to write instances: same table, role, policies and indexes. */
export interface RawInstances {
  /** Writes instances in order, 500 per statement and transaction. Ids are distinct within each 500. */
  readonly upsert: (contextId: string, instances: readonly RawInstance[]) => Promise<void>;
  /** The same with records of executions. */
  readonly writeBack: (contextId: string, instances: readonly DecidedInstance[]) => Promise<void>;
  /** Creates instances `prefix1` and so on with a total and a foreign key to one other instance. */
  readonly fill: (contextId: string, filling: LinkedFilling) => Promise<void>;
  /** The same with the links of their foreign keys, as if they had been submitted. */
  readonly fillLinked: (contextId: string, filling: LinkedFilling) => Promise<void>;
  readonly empty: (contextId: string) => Promise<void>;
  close(): Promise<void>;
}

interface LinkedFilling {
  readonly prefix: string;
  /** Number of the first. Default 1. */
  readonly from?: number;
  /** Number of the last. */
  readonly count: number;
  readonly foreignKey: string;
  readonly target: string;
}

/** Instances of one statement and transaction. */
export const CHUNK = 500;
/** Instances that the database can generate in one statement within its time limit. */
const FILL_CHUNK = 20_000;

const UPSERT = `
  insert into context_instances as i (context_id, instance_id, facts, version)
  select cast(:context as uuid), given.id, cast(given.facts as jsonb), 1
  from unnest(cast(:ids as text[]), cast(:facts as text[])) as given (id, facts)
  on conflict (context_id, instance_id) do update set facts = excluded.facts`;

const WRITE_BACK = `
  insert into context_instances as i (context_id, instance_id, facts, executions, version)
  select cast(:context as uuid), given.id, cast(given.facts as jsonb), cast(given.executions as jsonb), 1
  from unnest(cast(:ids as text[]), cast(:facts as text[]), cast(:executions as text[])) as given (id, facts, executions)
  on conflict (context_id, instance_id) do update set facts = excluded.facts, executions = excluded.executions`;

const FILL = `
  insert into context_instances (context_id, instance_id, facts, version)
  select cast(:context as uuid), cast(:prefix as text) || n,
    jsonb_build_object('id', cast(:prefix as text) || n, 'total', n % 1000, cast(:key as text), cast(:target as text)), 1
  from generate_series(cast(:from as integer), cast(:count as integer)) n`;

const LINK = `
  insert into context_links (context_id, instance_id, fact, target_id)
  select cast(:context as uuid), cast(:prefix as text) || n, :key, :target from generate_series(cast(:from as integer), cast(:count as integer)) n`;

export const openRawInstances = (url: string, workspaceId: string): RawInstances => {
  const database = openDatabase({ url, applicationName: 'benchmark' });
  const run = (sql: string, bindings: Record<string, string | string[]>): Promise<unknown> =>
    database.inWorkspace({ workspaceId, userGroups: undefined }, async (transaction) => {
      await transaction.raw(sql, bindings);
    });
  const inChunks = async <T extends RawInstance>(
    instances: readonly T[],
    write: (ids: string[], facts: string[], chunk: readonly T[]) => Promise<unknown>,
  ): Promise<void> => {
    for (let from = 0; from < instances.length; from += CHUNK) {
      const chunk = instances.slice(from, from + CHUNK);
      const facts = chunk.map((instance) => JSON.stringify(instance.facts));
      await write(
        chunk.map(({ id }) => id),
        facts,
        chunk,
      );
    }
  };
  const fill = async (context: string, statements: readonly string[], filling: LinkedFilling): Promise<void> => {
    const { prefix, from = 1, count, foreignKey, target } = filling;
    for (let first = from; first <= count; first += FILL_CHUNK) {
      const last = Math.min(count, first + FILL_CHUNK - 1);
      const bindings = { context, prefix, key: foreignKey, target, from: String(first), count: String(last) };
      for (const sql of statements) await run(sql, bindings);
    }
  };
  return {
    fill: (context, filling) => fill(context, [FILL], filling),
    fillLinked: (context, filling) => fill(context, [FILL, LINK], filling),
    upsert: (context, instances) => inChunks(instances, (ids, facts) => run(UPSERT, { context, ids, facts })),
    writeBack: (context, instances) =>
      inChunks(instances, (ids, facts, chunk) => {
        const executions = chunk.map((instance) => JSON.stringify(instance.executions));
        return run(WRITE_BACK, { context, ids, facts, executions });
      }),
    empty: async (context) =>
      void (await run('delete from context_instances where context_id = cast(:context as uuid)', { context })),
    close: () => database.close(),
  };
};
