import { type Facts, identityValueOf, outcomeOf, resolveInstance, type Settled } from '@decision/contexts';
import { type DirectlyMerged, mergeDirect } from '@decision/persistence';
import { type ContextInUse } from '../definitions/context-directory';
import { commitWrites } from '../operations/commit-writes';
import { holdDefinition } from '../operations/hold-definition';
import { NO_RELATIVES } from '../operations/relatives';
import { type GivenFacts, type InstanceOutcome, type RequestOrigin } from '../operations/work';
import { type InstancesContext } from '../service-context';

/** Whether merging is all that can happen to instances of a context: nothing is computed, noted, linked or run (C140). */
export const isMergeOnly = ({ id, model, assets, foreignKeys, world }: ContextInUse): boolean =>
  assets.length === 0 &&
  model.derived.size === 0 &&
  foreignKeys.length === 0 &&
  ![...model.facts.values()].some(({ trackHistory }) => trackHistory) &&
  !world.relationships.some(({ fromContextId, toContextId }) => fromContextId === id || toContextId === id);

const NOTHING_RUN: Omit<Settled, 'facts'> = {
  ...{ executions: {}, runs: [], ended: 'fixpoint', unfinished: [], degraded: undefined, anyReady: false },
};

/**
 * Merges in one statement; instances that are busy or have expired are left out, for the line, and so are all where the definition is another by now.
 * Throws `context_not_found`.
 */
export const mergeOnly = async (
  { database, directory }: InstancesContext,
  context: ContextInUse,
  origin: RequestOrigin,
  given: readonly GivenFacts[],
): Promise<readonly InstanceOutcome[]> => {
  const { identity, definition } = context.model;
  const merges = given.map(({ instanceId, facts }) => ({
    instanceId,
    facts: { ...facts, [identity.key]: identityValueOf(identity, instanceId) ?? instanceId } satisfies Facts,
  }));
  const { written } = await commitWrites(database, context.id, origin, async (transaction) => {
    const isInForce = (await holdDefinition(transaction, directory, { context, origin })) === context;
    return {
      written: isInForce ? await mergeDirect(transaction, context.id, merges, definition.ttlSeconds) : [],
    };
  });
  return written.map((instance) => toOutcome(context, origin, instance));
};

const toOutcome = (
  context: ContextInUse,
  { now }: RequestOrigin,
  { instanceId, isNew, facts, expiresAt }: DirectlyMerged,
): InstanceOutcome => {
  const { model } = context;
  const settled = { ...NOTHING_RUN, facts };
  return {
    ...{
      instanceId,
      context,
      isNew,
      before: {},
      settled,
      relatives: NO_RELATIVES,
      expiresAt,
      version: 0,
      readerPass: undefined,
    },
    resolved: resolveInstance(model, facts, { now, related: {} }),
    outcome: outcomeOf(settled, {
      hasAssets: false,
      autoExecute: model.definition.autoExecuteDecisions,
      hasRegistered: false,
    }),
    registered: false,
  };
};
