import {
  assetKey,
  type BoundAsset,
  describeState,
  type Facts,
  resolveInstance,
  waitingOn,
  withDefaults,
} from '@decision/contexts';
import {
  contextLimits,
  type ContextWaitingOn,
  type InstanceAnswer,
  type InstanceHistoryAnswer,
  type InstanceList,
  type InstanceStatus,
  type PendingAnswer,
  ServiceError,
} from '@decision/contracts';
import {
  asWorkspace,
  findHistory,
  findInstances,
  findRegistrations,
  type InstanceRecord,
  listInstances as listStoredInstances,
  type PageRequest,
} from '@decision/persistence';
import { type OpenContext } from '../definitions/context-directory';
import { type InstancesContext } from '../operations/operate';
import { loadRelatives } from '../operations/surroundings';
import { NO_RELATIVES, type Relatives } from '../operations/work';
import { instanceNotFound, type NamedInstance, nameOfInstance } from './instance-answers';

/** An instance as it is stored; derived facts have the values of its last write. */
const toAnswer = ({ slug, model, view }: OpenContext, record: InstanceRecord, relations: Facts): InstanceAnswer => {
  const derived = Object.fromEntries(
    [...model.derived.values()]
      .map(
        ({ key, defaultValue }) =>
          [key, Object.hasOwn(record.derived, key) ? record.derived[key] : defaultValue] as const,
      )
      .filter(([, value]) => value !== null && value !== undefined),
  );
  const state = { ...withDefaults(model, record.facts), ...derived };
  const { status, have, need } = describeState(model, { state, derived, failures: [] });
  return {
    context: nameOfInstance(slug, record.instanceId),
    ...{ state, derived, have: [...have], need: [...need], relations, status },
    executions: view.executions(record.executions),
    created_at: record.createdAt,
    updated_at: record.updatedAt,
    expires_at: record.expiresAt,
  };
};

/** Throws `instance_not_found`, `invalid_request` for an unknown relation of the context, and `result_too_large`. */
export const getInstance = (
  { database }: Pick<InstancesContext, 'database'>,
  { context, instanceId, origin }: NamedInstance,
  includeRelations: string | undefined,
): Promise<InstanceAnswer> =>
  database.inWorkspace(context.view.access, async (transaction) => {
    const relations = relationsAsked(context, includeRelations);
    const [record] = await findInstances(transaction, context.id, [instanceId]);
    if (record === undefined) throw instanceNotFound(context.slug, instanceId);
    if (relations.length === 0) return toAnswer(context, record, {});
    const asked = { ...context, relations, assets: relations.map(wholeRelation) };
    const found = (await loadRelatives(transaction, asked, [record], origin)).get(instanceId);
    if (found !== undefined) refuseTooLong(found, relations);
    return toAnswer(context, record, found?.related ?? {});
  });

const relationsAsked = ({ model, view }: OpenContext, text: string | undefined) => {
  const seen = new Map([...model.relations].filter(([, relationship]) => view.seesRelationship(relationship)));
  if (text === undefined || text === '' || text === 'false') return [];
  if (text === 'true') return [...seen.values()];
  return text.split(',').map((part) => {
    const relationship = seen.get(part.trim());
    if (relationship !== undefined) return relationship;
    const message = `must be among: ${['true', ...seen.keys()].join(', ')}`;
    throw new ServiceError('invalid_request', `The parameter "include_relations" ${message}.`, {
      problems: [{ path: '/include_relations', message }],
    });
  });
};

/** A relation is answered whole or not at all. */
const refuseTooLong = ({ related, aggregates }: Relatives, relations: readonly { readonly name: string }[]): void => {
  const tooLong = relations.find(({ name }) => !Object.hasOwn(related, name));
  if (tooLong === undefined) return;
  const bytes = aggregates[tooLong.name]?.listBytes ?? contextLimits.relatedBytes;
  const [taken, most] = [bytes, contextLimits.relatedBytes].map((count) => count.toLocaleString('en'));
  throw new ServiceError(
    'result_too_large',
    `The relation "${tooLong.name}" takes ${taken} bytes or more, and at most ${most} are answered: leave it out of include_relations.`,
    { limit_bytes: contextLimits.relatedBytes },
  );
};

/** Reads a relation as for an asset that needs all of it. */
const wholeRelation = ({ name }: { readonly name: string }) => ({
  ...{ type: 'rule' as const, slug: name, effectiveVersion: '', outputs: [] },
  inputs: [{ key: `$relations.${name}`, hasDefault: true }],
});

interface ListedInstances {
  readonly prefix?: string | undefined;
  readonly status?: InstanceStatus | undefined;
}

export const listInstances = (
  { database }: InstancesContext,
  context: OpenContext,
  filters: ListedInstances,
  page: PageRequest,
): Promise<InstanceList> =>
  database.inWorkspace(context.view.access, async (transaction) => {
    const { requiredFacts: required, defaultedFacts } = context.model;
    const completeness =
      filters.status === undefined
        ? undefined
        : {
            required,
            defaulted: defaultedFacts.map(({ key }) => key),
            complete: filters.status === 'complete',
          };
    const { instances, nextCursor } = await listStoredInstances(
      transaction,
      context.id,
      { prefix: filters.prefix, completeness },
      page,
    );
    return { data: instances.map((record) => toAnswer(context, record, {})), next_cursor: nextCursor };
  });

/** Throws `instance_not_found`, and `invalid_request` for a fact that is not tracked. */
export const getHistory = (
  { database }: InstancesContext,
  { context, instanceId }: NamedInstance,
  {
    field,
    limit = contextLimits.historyMost,
  }: { readonly field?: string | undefined; readonly limit?: number | undefined },
): Promise<InstanceHistoryAnswer> =>
  database.inWorkspace(context.view.access, async (transaction) => {
    const tracked = context.model.trackedFacts;
    if (field !== undefined && !tracked.includes(field)) {
      const message = `must be a tracked fact: ${tracked.join(', ') || 'the context has none'}`;
      throw new ServiceError('invalid_request', `The parameter "field" ${message}.`, {
        problems: [{ path: '/field', message }],
      });
    }
    const [record] = await findInstances(transaction, context.id, [instanceId]);
    if (record === undefined) throw instanceNotFound(context.slug, instanceId);
    const facts = field === undefined ? tracked : [field];
    const found = (await findHistory(transaction, context.id, [instanceId], { facts, limit })).get(instanceId);
    const history = facts.map((fact) => {
      const entries = (found?.get(fact) ?? []).map(({ timestamp, value }) => ({
        timestamp: new Date(timestamp).toISOString(),
        value,
      }));
      return [fact, entries] as const;
    });
    return { context: nameOfInstance(context.slug, instanceId), history: Object.fromEntries(history) };
  });

/** Facts and relations for which an asset of an instance waits (C54, C55). */
export const waitsFor = (
  { context, instanceId }: Pick<NamedInstance, 'context' | 'instanceId'>,
  asset: BoundAsset,
  state: Facts,
  relatives: Relatives,
): ContextWaitingOn[] =>
  waitingOn(context.model, asset, {
    ...{ instanceId, state, related: relatives.related, aggregates: relatives.aggregates },
    slugOfRelation: (name) => {
      const target = context.model.relations.get(name)?.toContextId ?? '';
      return context.world.contexts.get(target)?.slug ?? '';
    },
  }).filter((waiting) => context.view.seesContext(waiting.context));

const pendingNames = ({ assetIds }: OpenContext, { type, slug }: Pick<BoundAsset, 'type' | 'slug'>) => {
  const id = assetIds.get(assetKey({ type, slug }));
  if (type === 'rule') return { rule: slug, ...(id === undefined ? {} : { rule_id: id }) };
  return { flow: slug, ...(id === undefined ? {} : { flow_id: id }) };
};

/** Registered evaluations of an instance, each with the data that it still waits for. Throws `instance_not_found`. */
export const getPending = (
  { database }: InstancesContext,
  { context, instanceId, origin }: NamedInstance,
): Promise<PendingAnswer> =>
  database.inWorkspace(context.view.access, async (transaction) => {
    const [instance] = await findInstances(transaction, context.id, [instanceId]);
    if (instance === undefined) throw instanceNotFound(context.slug, instanceId);
    const registered = await findRegistrations(transaction, context.id, [instanceId]);
    const registrations = registered.filter(({ type, slug }) => context.view.seesAsset(`${type}:${slug}`));
    const found = await asWorkspace(transaction, () => loadRelatives(transaction, context, [instance], origin));
    const relatives = found.get(instanceId) ?? NO_RELATIVES;
    const { state } = resolveInstance(context.model, instance.facts, { now: origin.now, ...relatives });
    return {
      pending: registrations.map(({ type, slug, createdAt }) => {
        const asset = context.assets.find((bound) => bound.type === type && bound.slug === slug);
        return {
          type,
          ...pendingNames(context, { type, slug }),
          waiting_on: asset === undefined ? [] : waitsFor({ context, instanceId }, asset, state, relatives),
          created_at: createdAt,
          expires_at: instance.expiresAt,
        };
      }),
    };
  });
