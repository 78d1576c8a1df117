import { openDatabase } from '@decision/persistence';

/** One instance as the database stores it. */
export interface RawInstance {
  readonly id: string;
  readonly facts: object;
}

/** The statement without which instances cannot be written, and nothing else: same table, role, policies and indexes. */
export interface RawInstances {
  /** Writes instances, 500 in a statement and a transaction, as they come. Ids are distinct within each 500. */
  readonly upsert: (contextId: string, instances: readonly RawInstance[]) => Promise<void>;
  readonly empty: (contextId: string) => Promise<void>;
  close(): Promise<void>;
}

const CHUNK = 500;

const UPSERT = `
  insert into context_instances as i (context_id, instance_id, facts, version)
  select cast(:context as uuid), given.id, cast(given.facts as jsonb), 1
  from unnest(cast(:ids as text[]), cast(:facts as text[])) as given (id, facts)
  on conflict (context_id, instance_id) do update set facts = excluded.facts`;

export const openRawInstances = (url: string, workspaceId: string): RawInstances => {
  const database = openDatabase({ url, applicationName: 'benchmark' });
  const run = (sql: string, bindings: Record<string, string | string[]>): Promise<unknown> =>
    database.inWorkspace({ workspaceId, userGroups: undefined }, async (transaction) => {
      await transaction.raw(sql, bindings);
    });
  return {
    upsert: async (context, instances) => {
      for (let from = 0; from < instances.length; from += CHUNK) {
        const chunk = instances.slice(from, from + CHUNK);
        const facts = chunk.map((instance) => JSON.stringify(instance.facts));
        await run(UPSERT, { context, ids: chunk.map(({ id }) => id), facts });
      }
    },
    empty: async (context) =>
      void (await run('delete from context_instances where context_id = cast(:context as uuid)', { context })),
    close: () => database.close(),
  };
};
