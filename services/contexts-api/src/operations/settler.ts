import { type Requester } from '@decision/broker';
import {
  encodeSettleRequest,
  decodeSettleAnswer,
  fixedLimits,
  ServiceError,
  type SettledInstance,
  type SettleInstance,
  type SettleRequest,
} from '@decision/contracts';
import { reachableFrom } from '../definitions/to-definition';
import { type HeldInstance } from './admit';
import { sourcesOf } from './plan-instances';
import { type Work } from './work';

/** Complete operations on some instances of one context. */
export interface Operation {
  readonly work: Work;
  readonly held: readonly HeldInstance[];
  readonly collections: ReadonlyMap<string, readonly unknown[]>;
}

/**
 * Carries out operations on instances and answers what each became, in the same order. Throws `broker_unavailable` or `overloaded` where nothing can
 * be executed now, `deadline_exceeded`, and whatever a worker answers.
 */
export type Settler = (operation: Operation) => Promise<readonly SettledInstance[]>;

/** A message is filled up to so many bytes and instances: enough messages for every worker, and few enough to be cheap. */
const INSTANCES_PER_MESSAGE = 100;

/** Settles the instances of a request in this process. */
export type LocalSettler = (
  request: SettleRequest,
  limits: { readonly workspaceId: string; readonly deadline: number },
) => Promise<readonly SettledInstance[]>;

/** Where operations are carried out. */
export interface SettlerPorts {
  /** Workers behind the message broker; undefined where it is disabled. */
  readonly requester: Pick<Requester, 'request'> | undefined;
  /** What takes over operations that no message can carry, there or back. */
  readonly local: LocalSettler;
}

/**
 * Has workers settle instances over the message broker. What is too large for a message is settled in this process: under the same fences and
 * deadline, so nothing else is different.
 */
export const createSettler =
  ({ requester, local }: SettlerPorts): Settler =>
  async (operation) => {
    if (requester === undefined) {
      throw new ServiceError('broker_unavailable', 'The message broker is disabled; rules cannot be run here.');
    }
    const { origin } = operation.work;
    const limits = { workspaceId: origin.access.workspaceId, deadline: origin.deadline };
    const answers = await Promise.all(
      splitOperation(operation).map(async (instances) => {
        const request = requestOf(operation, instances);
        try {
          const answer = await requester.request(envelopeOf(operation.work), encodeSettleRequest(request));
          return requireAll(decodeSettleAnswer(answer), instances);
        } catch (error) {
          if (!isTooLarge(error)) throw error;
          return await local(request, limits);
        }
      }),
    );
    return answers.flat();
  };

/** The broker refuses the request, or what became of the instances fits no answer. */
const isTooLarge = (error: unknown): boolean =>
  error instanceof ServiceError && (error.code === 'payload_too_large' || error.code === 'result_too_large');

const requireAll = (
  settled: readonly SettledInstance[],
  instances: readonly SettleInstance[],
): readonly SettledInstance[] => {
  if (settled.length === instances.length) return settled;
  throw new ServiceError('internal_error', 'A worker answered for another number of instances.');
};

const splitOperation = ({ work, held }: Operation): readonly (readonly SettleInstance[])[] => {
  const messages: SettleInstance[][] = [];
  let bytes = Infinity;
  for (const { planned } of held) {
    const instance = toSettleInstance(work, planned);
    const size = JSON.stringify(instance).length;
    const last = messages.at(-1);
    if (last !== undefined && last.length < INSTANCES_PER_MESSAGE && bytes + size <= fixedLimits.chunkBytes) {
      last.push(instance);
      bytes += size;
    } else {
      messages.push([instance]);
      bytes = size;
    }
  }
  return messages;
};

const toSettleInstance = (
  work: Work,
  { locked, facts, surroundings, only }: HeldInstance['planned'],
): SettleInstance => {
  const { history } = sourcesOf(work, locked.facts, facts, surroundings);
  return {
    ...{ instanceId: locked.instanceId, facts, executions: locked.executions },
    related: surroundings.related as SettleInstance['related'], // readonly lists, which a message does not know
    aggregates: surroundings.aggregates,
    history: Object.fromEntries(historyFacts(work).map((fact) => [fact, [...history(fact)]])),
    ...(only === undefined ? {} : { only: [...only] }),
    ...(work.forced === undefined ? {} : { forced: work.forced }),
  };
};

const historyFacts = ({ context }: Work): readonly string[] =>
  [...context.model.derived.values()].flatMap(({ reads }) => reads.history.filter((fact) => fact !== undefined));

const requestOf = ({ work, collections }: Operation, instances: readonly SettleInstance[]): SettleRequest => {
  const { context, origin } = work;
  const reachable = reachableFrom(context.id, context.world);
  return {
    v: 1,
    revision: context.revision,
    contextId: context.id,
    contexts: [...reachable.contexts.values()],
    relationships: [...reachable.relationships],
    assets: context.assets.map((asset) => ({ ...asset, inputs: [...asset.inputs], outputs: [...asset.outputs] })),
    collections: Object.fromEntries([...collections].map(([name, members]) => [name, [...members]])),
    now: origin.now,
    instances: [...instances],
  };
};

const envelopeOf = ({ context, origin }: Work) => ({
  deadline: origin.deadline,
  kind: 'settle' as const,
  workspaceId: origin.access.workspaceId,
  versionId: context.id,
  receivedAt: origin.now,
  explain: 'none' as const,
  requestId: origin.requestId,
  traceparent: origin.traceparent,
  origin:
    origin.keyId === undefined
      ? undefined
      : { keyId: origin.keyId, slug: context.slug, selector: 'context', firstIndex: 0 },
});
