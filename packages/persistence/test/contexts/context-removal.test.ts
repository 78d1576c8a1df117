import { randomUUID } from 'node:crypto';
import {
  type Database,
  deleteContext,
  findContext,
  findContextInForce,
  findTurns,
  findVisibleAround,
  holdContext,
  insertContext,
  insertRelationship,
  listContexts,
  loadContextWorld,
  removeContextStep,
  sweepExpiredInstances,
  takeTickets,
} from '../../src';
import { query } from '../../src/connection/query';
import { boundDeletes } from '../../src/testing';
import { asOwner } from '../as-owner';
import { newContext } from './context-fixtures';
import { useTestWorkspace } from '../test-workspace';

const INSTANCES = 40;
const HISTORY = 5;
/** Largest number of rows that a transaction may delete in these tests; the database refuses more. */
const MOST = 10;
const BOUNDS = { rows: MOST, history: MOST, bytes: 1_000_000 };
const DATA = ['context_history', 'context_links', 'context_registrations', 'context_instances'];

const workspace = useTestWorkspace('context_removal');
const { inside } = workspace;
let id: string;
let slug: string;
const step = (bounds = BOUNDS) => removeContextStep(workspace.database, bounds);
const sweep = (bounds = BOUNDS) => sweepExpiredInstances(workspace.database, bounds);
const count = async (table: string, contextId = id): Promise<number> => {
  const [row] = await asOwner(workspace.url, `select count(*)::int as rows from ${table} where context_id = $1`, [
    contextId,
  ]);
  return Number(row?.['rows']);
};
const removals = () => asOwner(workspace.url, 'select stage, after, history::int, links::int, instances::int from context_removals'); // prettier-ignore

beforeAll(() => boundDeletes(workspace.url, DATA, MOST));
beforeEach(async () => {
  id = randomUUID();
  slug = `orders-${id.slice(0, 8)}`;
  await fill(slug, null);
});
afterEach(async () => {
  await inside((t) => deleteContext(t, id));
  while ((await step()) !== undefined);
});

/** A context with instances, each with history, a link and a registered evaluation. */
const fill = async (named: string, expiresAt: string | null): Promise<void> => {
  await inside((t) => insertContext(t, newContext({ id, slug: named })));
  const values = [workspace.access.workspaceId, id];
  const rows = `generate_series(1, ${INSTANCES}) as n`;
  const names = `'i' || lpad(n::text, 3, '0')`;
  await asOwner(workspace.url, `insert into context_instances (workspace_id, context_id, instance_id, facts, version, expires_at) select $1, $2, ${names}, jsonb_build_object('k', n), 1, $3::timestamptz from ${rows}`, [...values, expiresAt]); // prettier-ignore
  await asOwner(workspace.url, `insert into context_history (workspace_id, context_id, instance_id, fact, at, value) select $1, $2, ${names}, 'k', now(), to_jsonb(m) from ${rows}, generate_series(1, ${HISTORY}) as m`, values); // prettier-ignore
  await asOwner(workspace.url, `insert into context_links (workspace_id, context_id, instance_id, fact, target_id) select $1, $2, ${names}, 'k', 'x' from ${rows}`, values); // prettier-ignore
  await asOwner(workspace.url, `insert into context_registrations (workspace_id, context_id, instance_id, type, slug) select $1, $2, ${names}, 'rule', 'r' from ${rows}`, values); // prettier-ignore
};

it('C160: a deleted context is hidden at once, with its relationships, and its slug is free; its data is not touched by the delete', async () => {
  const other = newContext();
  await inside(async (t) => {
    await insertContext(t, other);
    const relationship = { toContextId: id, name: 'orders', type: 'has_many', foreignKeyFact: 'k', description: null } as const; // prettier-ignore
    await insertRelationship(t, other, { ...relationship, id: randomUUID(), fromContextId: other.id });
  });
  expect(await inside((t) => deleteContext(t, id))).toMatchObject({ context: { slug }, registered: 40 });
  for (const access of [workspace.access, { ...workspace.access, userGroups: ['sales'] }]) {
    await workspace.database.inWorkspace(access, async (t) => {
      expect(await findContext(t, { id })).toBeUndefined();
      expect(await findContext(t, { slug })).toBeUndefined();
      expect(await findContext(t, { slug: id })).toBeUndefined();
      expect(await findContextInForce(t, { id })).toBeUndefined();
      expect(await findVisibleAround(t, slug)).toBeUndefined();
      expect(await holdContext(t, id)).toBeUndefined();
      expect(await findTurns(t, id, randomUUID())).toBeUndefined();
      expect((await listContexts(t, {})).contexts.filter((context) => context.id === id)).toEqual([]);
      expect((await loadContextWorld(t)).relationships).toEqual([]);
      expect(await deleteContext(t, id)).toBeUndefined();
    });
  }
  expect(await count('context_instances')).toBe(INSTANCES);
  expect(await inside((t) => insertContext(t, newContext({ slug })))).toMatchObject({ status: 'inserted' });
});

it('C161: the data of a deleted context is removed in bounded steps, of which each is kept, and the context goes last', async () => {
  const kept = id;
  id = randomUUID();
  await fill('doomed', null);
  await inside((t) => deleteContext(t, id));
  const reported: unknown[] = [];
  for (;;) {
    const removal = await step();
    if (removal === undefined) break;
    reported.push(removal);
    if (removal.done) break;
    expect(await removals()).toMatchObject([{ history: removal.history, links: removal.links, instances: removal.instances }]); // prettier-ignore
    expect(await count('context_instances')).toBe(INSTANCES - removal.instances);
    expect(await count('context_history')).toBe((INSTANCES * HISTORY) - removal.history); // prettier-ignore
  }
  expect(reported.at(-1)).toEqual({ contextId: id, slug: 'doomed', done: true, removed: 0, history: INSTANCES * HISTORY, links: INSTANCES, instances: INSTANCES }); // prettier-ignore
  expect(await step()).toBeUndefined();
  for (const table of [...DATA, 'context_removals']) expect(await count(table)).toBe(0);
  expect(await asOwner(workspace.url, 'select 1 from contexts where id = $1', [id])).toEqual([]);
  expect(await count('context_instances', kept)).toBe(INSTANCES);
  expect(await count('context_history', kept)).toBe(INSTANCES * HISTORY);
  id = kept;
});

it('C161: a step that breaks off is undone, and any process goes on behind the last one that was kept', async () => {
  await inside((t) => deleteContext(t, id));
  await step();
  const [before] = await removals();
  // The connection ends within the step, after its deletes.
  await asOwner(workspace.url, `create function die() returns trigger language plpgsql as $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$`); // prettier-ignore
  await asOwner(workspace.url, `create trigger die after update on context_removals for each row execute function die()`); // prettier-ignore
  const dying = workspace.open();
  await expect(removeContextStep(dying, BOUNDS)).rejects.toMatchObject({ code: 'database_unavailable' });
  await asOwner(workspace.url, 'drop trigger die on context_removals; drop function die()');
  expect(await removals()).toEqual([before]);
  expect(await count('context_history')).toBe(INSTANCES * HISTORY - Number(before?.['history']));
  const next = workspace.open();
  expect(await removeContextStep(next, BOUNDS)).toMatchObject({ history: Number(before?.['history']) + MOST });
});

it('C161: contexts are removed side by side, each by one process at a time', async () => {
  const ids = [id];
  for (const another of ['second', 'third']) {
    id = randomUUID();
    ids.push(id);
    await fill(another, null);
  }
  for (const one of ids) await inside((t) => deleteContext(t, one));
  const work = async (): Promise<number> => {
    let done = 0;
    for (let removal = await step(); removal !== undefined; removal = await step()) done += removal.done ? 1 : 0;
    return done;
  };
  const done = await Promise.all([work(), work(), work(), work()]);
  expect(done.reduce((sum, some) => sum + some, 0)).toBe(ids.length);
  expect(await removals()).toEqual([]);
});

it('C161: a step is bounded by the bytes of its rows too', async () => {
  await asOwner(workspace.url, `update context_history set value = to_jsonb(repeat('x', 1000)) where context_id = $1`, [id]); // prettier-ignore
  await inside((t) => deleteContext(t, id));
  expect(await step({ ...BOUNDS, bytes: 2_500 })).toMatchObject({ history: 3 });
  expect(await step({ ...BOUNDS, bytes: 1 })).toMatchObject({ history: 4 });
});

it('C161: a context whose instances are waited for goes after the last who waits, who learns that it is gone', async () => {
  const ticketId = randomUUID();
  await inside((t) => takeTickets(t, id, ['i001'], { ticketId, leaseMs: 600_000, most: 9 }));
  expect(await inside((t) => findTurns(t, id, ticketId))).toEqual(['i001']);
  await inside((t) => deleteContext(t, id));
  while ((await step()) !== undefined);
  expect(await removals()).toMatchObject([{ stage: 'context', instances: INSTANCES }]);
  expect(await inside((t) => findTurns(t, id, ticketId))).toBeUndefined();
  await asOwner(workspace.url, 'delete from context_tickets where ticket_id = $1', [ticketId]);
  expect(await step()).toMatchObject({ done: true });
});

it('C107: expired instances are swept in steps that are bounded in history too, and each step is kept', async () => {
  const lasting = id;
  id = randomUUID();
  await fill('expiring', '2020-01-01');
  const steps: { readonly instances: number; readonly history: number }[] = [];
  for (;;) {
    const swept = await sweep();
    if (swept.instances + swept.history === 0) break;
    steps.push(swept);
    expect(await count('context_instances')).toBe(INSTANCES - steps.reduce((sum, { instances }) => sum + instances, 0));
  }
  expect(steps.reduce((sum, { history }) => sum + history, 0)).toBe(INSTANCES * HISTORY);
  for (const table of DATA) expect(await count(table)).toBe(0);
  expect(await count('context_instances', lasting)).toBe(INSTANCES);
  await inside((t) => deleteContext(t, id));
  id = lasting;
});

it('C107: a sweep leaves what others hold, and two at once share the work', async () => {
  await asOwner(workspace.url, `update context_instances set expires_at = '2020-01-01' where context_id = $1`, [id]);
  await workspace.database.inWorkspace(workspace.access, async (t) => {
    await t.raw(`select 1 from context_instances where context_id = '${id}' and instance_id <= 'i030' for update`);
    const work = async (): Promise<number> => {
      let instances = 0;
      for (let swept = await sweep(); swept.instances + swept.history > 0; swept = await sweep()) instances += swept.instances; // prettier-ignore
      return instances;
    };
    const [one, other] = await Promise.all([work(), work()]);
    expect(one + other).toBe(10);
  });
  expect(await count('context_instances')).toBe(30);
});

describe.each([
  ['nothing', ['fill']],
  ['the rows that there are', ['fill', 'analyze']],
  ['rows that were deleted', ['fill', 'empty', 'analyze', 'fill']],
] as const)('however many rows there are, if the planner knows of %s', (_known, before) => {
  const MANY = 20_000;
  /** A part of the history, which the planner overestimates: it has no statistics of recently filled tables. */
  const LARGE = { rows: 2_000, history: 5_000, bytes: 33_554_432 };
  /** The largest number of rows of one table that a step fetched. A step reads its rows several times, also in checks of references. */
  const fetchedBy = (work: (database: Pick<Database, 'lookUp'>) => Promise<unknown>) =>
    inside(async (t) => {
      await work({ lookUp: (sql, bindings) => query(t, sql, bindings) });
      const rows = await query<{ table: string; rows: string }>(t, 'select relname as table, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as rows from pg_stat_xact_user_tables'); // prettier-ignore
      return Math.max(...rows.map(({ rows: fetched }) => Number(fetched)));
    });
  const setBound = async (state: 'enable' | 'disable') => {
    for (const table of DATA) await asOwner(workspace.url, `alter table ${table} ${state} trigger bound_deletes`);
  };
  const steps = {
    fill: async () => {
      const values = [workspace.access.workspaceId, id];
      await asOwner(workspace.url, `insert into context_instances (workspace_id, context_id, instance_id, facts, version, expires_at) select $1, $2, 'm' || n, '{}', 1, '2020-01-01' from generate_series(1, ${MANY}) as n`, values); // prettier-ignore
      await asOwner(workspace.url, `insert into context_history (workspace_id, context_id, instance_id, fact, at, value) select $1, $2, 'm' || n, 'k', now(), '1' from generate_series(1, ${MANY}) as n, generate_series(1, 4)`, values); // prettier-ignore
    },
    empty: () => asOwner(workspace.url, 'delete from context_instances where context_id = $1', [id]),
    analyze: () => asOwner(workspace.url, 'analyze context_instances, context_history'),
  };
  beforeEach(async () => {
    await setBound('disable');
    for (const step of before) await steps[step]();
  }, 120_000);
  afterEach(async () => {
    await steps.empty();
    await setBound('enable');
  });

  it('C161: a step of a removal reads what it takes', async () => {
    await inside((t) => deleteContext(t, id));
    expect(await fetchedBy((database) => removeContextStep(database, LARGE))).toBeLessThan(MANY);
    // Starts in the middle.
    await asOwner(workspace.url, `update context_removals set after = 'm5' where context_id = $1`, [id]); // prettier-ignore
    expect(await fetchedBy((database) => removeContextStep(database, LARGE))).toBeLessThan(MANY);
  });

  it('C107: a step of a sweep reads what it takes', async () => {
    expect(await fetchedBy((database) => sweepExpiredInstances(database, { ...LARGE, rows: 500 }))).toBeLessThan(MANY);
  });
});

it.each(['context_removals', 'contexts'])(
  'the runtime role cannot hide or restore anything by writing to %s',
  async (table) => {
    const sql = table === 'contexts' ? 'update contexts set deleted_at = null' : 'delete from context_removals';
    await expect(inside(async (t) => await t.raw(sql))).rejects.toMatchObject({ cause: { sqlState: '42501' } });
  },
);
