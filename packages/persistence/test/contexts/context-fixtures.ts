import { randomUUID } from 'node:crypto';
import { contextSettings, defaultValues, type ExecutionRecord } from '@decision/contracts';
import { type InstanceWrite, lockInstances, type NewContext, type Transaction, writeInstances } from '../../src';

/** A context ready to insert: unique id and slug, one string for its identity. */
export const newContext = (parts: Partial<NewContext> = {}): NewContext => {
  const id = parts.id ?? randomUUID();
  return {
    id,
    slug: `context-${id.slice(0, 8)}`,
    name: 'Orders',
    ...defaultValues(contextSettings),
    schema: { base: [{ key: 'id', type: 'string' }] },
    identityFact: 'id',
    userGroups: [],
    folderId: null,
    ...parts,
  };
};

export const write = (instanceId: string, facts: Record<string, unknown> = {}): InstanceWrite => ({
  instanceId,
  facts: { id: instanceId, ...facts },
  derived: {},
  executions: {},
  isNew: false,
});

export const execution: ExecutionRecord = {
  type: 'rule',
  slug: 'r',
  status: 'success',
  effective_version: 'v1',
  input_hash: 'h',
  run_count: 1,
  timestamp: '2026-01-15T09:30:00.000Z',
  written_to_context: [],
};

/** The plans, as JSON, of the statements of some work, each made once for any values; the statements answer nothing. */
export const genericPlans = async (
  transaction: Transaction,
  work: (explaining: Transaction) => Promise<unknown>,
): Promise<readonly string[]> => {
  await transaction.raw('set local plan_cache_mode = force_generic_plan');
  const plans: string[] = [];
  const raw: Transaction['raw'] = async (sql, bindings) => {
    const { rows } = await transaction.raw(`explain (analyze, format json) ${sql}`, bindings);
    plans.push(JSON.stringify(rows));
    return { rows: [] } as never;
  };
  await work({
    savepoint: transaction.savepoint.bind(transaction),
    copyIn: transaction.copyIn.bind(transaction),
    raw,
    commitWith: raw,
  });
  return plans;
};

/** Creates free instances that never expire by default. */
export const saveInstances = async (
  transaction: Transaction,
  contextId: string,
  writes: readonly InstanceWrite[],
  ttlSeconds: number | null = null,
): Promise<void> => {
  const instanceIds = writes.map(({ instanceId }) => instanceId);
  await lockInstances(transaction, { contextId, instanceIds, create: true });
  await writeInstances(transaction, writes, { contextId, ttlSeconds });
};
