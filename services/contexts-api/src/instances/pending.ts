import { type BoundAsset, type Facts, resolveInstance, waitingOn } from '@decision/contexts';
import { type ContextWaitingOn, type PendingAnswer } from '@decision/contracts';
import { asWorkspace, findInstances, findRegistrations } from '@decision/persistence';
import { loadRelatives } from '../operations/related';
import { NO_RELATIVES, type Relatives } from '../operations/relatives';
import { type InstancesContext } from '../service-context';
import { type NamedInstance } from './named-instance';
import { instanceNotFound } from './instance-errors';

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

/** Registered evaluations of an instance, with what each still waits for. Throws `instance_not_found`. */
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
          ...(type === 'rule' ? { rule: slug } : { flow: slug }),
          waiting_on: asset === undefined ? [] : waitsFor({ context, instanceId }, asset, state, relatives),
          created_at: createdAt,
          expires_at: instance.expiresAt,
        };
      }),
    };
  });
