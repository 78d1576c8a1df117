import { type RequestEnvelope, type Requester } from '@decision/broker';
import {
  decodeSettleAnswer,
  createSettleEncoder,
  limits,
  ServiceError,
  type SettledInstance,
  type SettleInstance,
  type ServiceName,
  type SettleRequest,
} from '@decision/contracts';
import {
  createContextModels,
  createRunLog,
  type DecisionLogWriter,
  type EvaluationThreads,
  type FlowRunner,
  type RequestFault,
  type RuleLibrary,
  type SettleFault,
  settleOperations,
} from '@decision/execution';
import { type RunningOperation } from '@decision/flows';
import pLimit from 'p-limit';
import { reachableFrom } from '../definitions/world';
import { type DueInstance, sourcesOf } from './admit';
import { messageKey } from './message-keys';
import { historyFactsOf } from './surroundings';
import { type Work } from './work';

/** Complete operations on some instances of one context. */
export interface Operation {
  readonly operationId: string;
  readonly work: Work;
  readonly instances: readonly DueInstance[];
  readonly collections: ReadonlyMap<string, readonly unknown[]>;
}

/**
 * Carries out operations on instances and answers the result of each, in the same order. Throws `broker_unavailable`,
 * `too_few_reply_partitions` or `overloaded` if nothing can be executed now, `deadline_exceeded`, and any error that a worker answers.
 */
export type Settler = (operation: Operation) => Promise<readonly SettledInstance[]>;

/** Dependencies of the settler. */
interface SettlerPorts {
  /** Workers behind the message broker; undefined if it is disabled. */
  readonly requester: Pick<Requester, 'request'> | undefined;
  /** Settler of operations that fit no message, as a request or an answer. */
  readonly local: LocalSettler;
  /** Largest size of the instances in a message with several, bytes. Default: 2 MiB. */
  readonly chunkBytes?: number;
}

/**
 * Has workers settle instances over the message broker (ADR 19). An operation that is too large for a message is settled in this process, under
 * the same fences and the same deadline.
 */
export const createSettler =
  ({ requester, local, chunkBytes = limits.chunkBytes.defaultValue }: SettlerPorts): Settler =>
  async (operation) => {
    if (requester === undefined) {
      throw new ServiceError(
        'broker_unavailable',
        'The message broker is disabled; rules and flows cannot be run here.',
      );
    }
    const envelope = envelopeOf(operation.work);
    const common = commonOf(operation);
    const encode = createSettleEncoder(common);
    const answers = await Promise.all(
      splitOperation(operation, chunkBytes).map(async ({ key, instances, texts }) => {
        const payload = encode(texts);
        try {
          const answer = await requester.request(envelope, payload, { key });
          return byInstance(instances, requireAll(decodeSettleAnswer(answer), instances));
        } catch (error) {
          if (!isTooLarge(error)) throw error;
          return byInstance(instances, await local({ ...common, instances }, envelope, operation.work.origin.within));
        }
      }),
    );
    const settled = new Map(answers.flat());
    return operation.instances.map(({ planned }) => requireOne(settled.get(planned.locked.instanceId)));
  };

/** Settles in this process. For processes that run flows: writes of their nodes need no other process. */
export const createOwnSettler =
  (local: LocalSettler): Settler =>
  (operation) => {
    const { work } = operation;
    const instances = operation.instances.map(settleInstancesOf(work));
    return local({ ...commonOf(operation), instances }, envelopeOf(work), work.origin.within);
  };

const byInstance = (
  instances: readonly SettleInstance[],
  settled: readonly SettledInstance[],
): readonly (readonly [string, SettledInstance])[] =>
  settled.map((one, index) => [instances[index]?.instanceId ?? '', one]);

const requireOne = (settled: SettledInstance | undefined): SettledInstance => {
  if (settled !== undefined) return settled;
  throw new ServiceError('internal_error', 'A worker did not answer for every instance.');
};

/** The broker refuses the request, or the results fit no answer. */
const isTooLarge = (error: unknown): boolean =>
  error instanceof ServiceError && (error.code === 'payload_too_large' || error.code === 'result_too_large');

const requireAll = (
  settled: readonly SettledInstance[],
  instances: readonly SettleInstance[],
): readonly SettledInstance[] => {
  if (settled.length === instances.length) return settled;
  throw new ServiceError('internal_error', 'A worker answered for another number of instances.');
};

/** Instances of one message, and their JSON text: serialised once, since that is most of the cost of sending. */
interface Parcel {
  readonly key: string;
  readonly instances: SettleInstance[];
  readonly texts: string[];
  bytes: number;
}

/** Distributes instances over messages by their keys. */
const splitOperation = ({ work, instances }: Operation, chunkBytes: number): readonly Parcel[] => {
  const toSettleInstance = settleInstancesOf(work);
  const full: Parcel[] = [];
  const open = new Map<string, Parcel>();
  for (const one of instances) {
    const instance = toSettleInstance(one);
    const text = JSON.stringify(instance);
    const key = messageKey(work.context.id, instance.instanceId);
    let parcel = open.get(key);
    if (parcel !== undefined && parcel.bytes + text.length > chunkBytes) {
      full.push(parcel);
      parcel = undefined;
    }
    if (parcel === undefined) open.set(key, (parcel = { key, instances: [], texts: [], bytes: 0 }));
    parcel.instances.push(instance);
    parcel.texts.push(text);
    parcel.bytes += text.length;
  }
  return [...full, ...open.values()];
};

/** Makes the part of a message for each instance. */
const settleInstancesOf = (work: Work): ((due: DueInstance) => SettleInstance) => {
  const historyFacts = historyFactsOf(work.context);
  const historyOf = ({ locked, facts, surroundings }: DueInstance['planned']): SettleInstance['history'] => {
    if (historyFacts.length === 0) return {};
    const { history } = sourcesOf(work, locked.facts, facts, surroundings);
    return Object.fromEntries(historyFacts.map((fact) => [fact, [...history(fact)]]));
  };
  return ({ planned, createdAt }) => {
    const { locked, facts, executions, surroundings, only } = planned;
    return {
      ...{ instanceId: locked.instanceId, createdAt, facts, executions },
      related: surroundings.related as SettleInstance['related'], // readonly lists, which the type of the message lacks
      aggregates: surroundings.aggregates,
      history: historyOf(planned),
      ...(only === undefined ? {} : { only: [...only] }),
      ...(work.forced === undefined ? {} : { forced: work.forced }),
    };
  };
};

const commonOf = ({ operationId, work, collections }: Operation): Omit<SettleRequest, 'instances'> => {
  const { context, origin } = work;
  const reachable = reachableFrom(context.id, context.world);
  return {
    v: 1,
    revision: context.revision,
    contextId: context.id,
    operationId,
    contexts: [...reachable.contexts.values()],
    relationships: [...reachable.relationships],
    assets: context.assets.map((asset) => ({ ...asset, inputs: [...asset.inputs], outputs: [...asset.outputs] })),
    collections: Object.fromEntries([...collections].map(([name, members]) => [name, [...members]])),
    now: origin.now,
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

/** Settles the instances of a request in this process. */
type LocalSettler = (
  request: SettleRequest,
  envelope: RequestEnvelope,
  within?: readonly RunningOperation[],
) => Promise<readonly SettledInstance[]>;

interface LocalSettlerTools {
  readonly library: Pick<RuleLibrary, 'get' | 'peek'>;
  /** Threads for long evaluations; undefined: they run in this thread. */
  readonly threads?: Pick<EvaluationThreads, 'solveFirst'> | undefined;
  /** Undefined: flows are not supported here. */
  readonly flows?: Pick<FlowRunner, 'run'> | undefined;
  /** Receives a decision for every rule and flow that runs here, as workers write theirs. */
  readonly decisions: DecisionLogWriter;
  readonly newId: () => string;
  /** The requester that decisions of this process name. */
  readonly requester: ServiceName;
  /** Operations that it settles concurrently; others wait until their deadline. Default 2: they are large, and this bounds their memory. */
  readonly atOnce?: number;
  /** Receives the reason why rules and flows had no answer, each fault once per operation. */
  readonly onFault: (fault: RequestFault) => void;
}

/** Slug of the flow whose node requested an operation. */
const askingFlow = (within: readonly RunningOperation[] = []): string | undefined =>
  [...(within.at(-1)?.activeFlows ?? [])].at(-1)?.replace(/^flow:/, '');

/** Settles instances in this process in slices, so that other requests proceed meanwhile. */
export const createLocalSettler = (tools: LocalSettlerTools): LocalSettler => {
  const { library, threads, flows, decisions, newId, requester, onFault } = tools;
  const models = createContextModels();
  const turn = pLimit(tools.atOnce ?? 2);
  return (request, envelope, within) =>
    turn(async () => {
      const decided = { ...envelope, correlationId: newId(), requester, replyPartition: 0 };
      const { workspaceId, deadline, requestId } = envelope;
      const runs = createRunLog(decisions, decided, askingFlow(within));
      const { onRun, isFull } = runs;
      const reportFault = (fault: SettleFault): void => onFault({ ...fault, requestId });
      const settled = await settleOperations(request, {
        ...{ workspaceId, deadline, requestId, keyId: envelope.origin?.keyId, within, library, threads, flows, models },
        ...{ onRun, isFull, onFault: reportFault },
      });
      await runs.write();
      return JSON.parse(JSON.stringify(settled)) as SettledInstance[]; // as a message would have carried it
    });
};
