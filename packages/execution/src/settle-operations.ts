import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type AssetAnswer,
  assetKey,
  type BoundAsset,
  compileContext,
  type ContextModel,
  type Facts,
  settle,
  type SettlePorts,
  type SettlingInstance,
  TriedMemory,
} from '@decision/contexts';
import { ServiceError, type SettledInstance, type SettleInstance, type SettleRequest } from '@decision/contracts';
import { type CompiledRule, evaluateBriefly, evaluateRule, type RuleOutcome } from '@decision/engine';
import { type FlowOutcome, type RunningOperation } from '@decision/flows';
import { LRUCache } from 'lru-cache';
import { type FlowRunner } from './flows/flow-runner';
import { type RuleLibrary } from './rule-library';
import { type EvaluationThreads } from './threads/evaluation-threads';
import { gatherEvaluations } from './threads/gather-evaluations';

/** A rule or flow that was evaluated within an operation. */
export interface OperationRun {
  readonly asset: BoundAsset;
  readonly instanceId: string;
  readonly inputs: Facts;
  readonly outcome: RuleOutcome | FlowOutcome;
  readonly durationUs: number;
}

/** Id of the version of an asset that runs. */
export const versionOf = ({ effectiveVersion, flow }: BoundAsset): string => flow?.versionId ?? effectiveVersion;

/** Why a rule or flow had no answer, for operators; without inputs and outputs. */
export interface SettleFault {
  /** Slug of the rule. */
  readonly rule?: string;
  /** Slug of the flow. */
  readonly flow?: string;
  readonly versionId: string;
  readonly code: string;
  readonly cause: unknown;
}

/** A fault with its request. */
export type RequestFault = SettleFault & { readonly requestId: string };

/** Dependencies of operations. */
interface SettleSurroundings {
  readonly workspaceId: string;
  /** Epoch ms after which nobody waits for the answer. */
  readonly deadline: number;
  readonly library: Pick<RuleLibrary, 'get'>;
  /** Threads for long evaluations; undefined: they run in this thread. */
  readonly threads?: Pick<EvaluationThreads, 'solveFirst'> | undefined;
  /** Undefined: flows cannot run here. */
  readonly flows?: Pick<FlowRunner, 'run'> | undefined;
  /** Enclosing operations, innermost last. Default: none. */
  readonly within?: readonly RunningOperation[] | undefined;
  /** Identifies the request in external calls of flows. */
  readonly requestId: string;
  /** Id of the API key that asked; absent if no key did. */
  readonly keyId?: string | undefined;
  readonly models: ContextModels;
  /** Receives each evaluation, for logs and counts; answers its id among decisions. */
  readonly onRun: (run: OperationRun) => string | undefined;
  /** Whether the memory of `onRun` is used up: then no rule runs again for an instance. */
  readonly isFull: () => boolean;
  /** Memory of tried states that the current operations share. Default: one for the process. */
  readonly tried?: TriedMemory;
  /** Receives each fault once per operation, however many instances have it. */
  readonly onFault: (fault: SettleFault) => void;
}

/** Dependencies of the instances of one message. */
interface Settling extends SettleSurroundings {
  readonly inThread: ReturnType<typeof gatherEvaluations> | undefined;
}

/** Shared by all operations of this process, which can be hundreds at once (C67). */
const triedInProcess = new TriedMemory(64 * 1024 * 1024);

/** Time slice before the thread yields, ms. */
const SLICE_MS = 10;

/** Instances of one message that are settled concurrently if flows reach out, since they mostly wait then. */
const WAITING_AT_ONCE = 8;
/** The same where a rule runs in threads: its inputs for so many instances go there in one job. */
const IN_THREADS_AT_ONCE = 32;

/** Share of the remaining time that is reserved for returning the answer and writing its results, and its maximum, ms. */
const KEPT_PART = 0.1;
const KEPT_MS = 2_000;

/** The hash of inputs that executions store. */
export const inputHash = (text: string): string => hash('sha256', text, 'base64url');

/**
 * Settles the instances of a request, in slices; answers the state of each, in the same order
 * (docs/adr/0019-workers-settle-contexts-api-writes.md). They run one after the other, except that flows which reach out, and rules that run in
 * threads, overlap.
 */
export const settleOperations = async (
  request: SettleRequest,
  surroundings: SettleSurroundings,
): Promise<readonly SettledInstance[]> => {
  const model = surroundings.models.get(surroundings.workspaceId, request);
  const { deadline } = surroundings;
  const endsAt = deadline - Math.min(Math.max(deadline - Date.now(), 0) * KEPT_PART, KEPT_MS);
  const { threads, workspaceId } = surroundings;
  const within: Settling = {
    ...surroundings,
    deadline: endsAt,
    onFault: eachOnce(surroundings.onFault),
    inThread: threads && gatherEvaluations({ threads, workspaceId, now: request.now, deadline: endsAt }),
  };
  const ports = portsOf(request, within);
  const ancestors = ancestorsOf(request.contextId, surroundings.within);
  const settled: SettledInstance[] = [];
  const queue = request.instances.entries();
  const work = async (): Promise<void> => {
    for (const [index, instance] of queue) {
      const bounded = boundNotifications();
      const execute: SettlePorts['execute'] = async (asset, inputs, successes, settling) =>
        bounded(await evaluateAsset({ asset, inputs, successes, instance, request, settling }, within));
      settled[index] = await settleOne(model, request, instance, { ...ports, execute, ancestors });
      await ports.pause();
    }
  };
  await Promise.all(Array.from({ length: await settledAtOnce(request, surroundings) }, work));
  return settled;
};

/** How many instances are settled at once. */
const settledAtOnce = async (
  { assets, instances }: SettleRequest,
  { threads, library, workspaceId }: SettleSurroundings,
): Promise<number> => {
  if (assets.some(({ flow }) => flow?.reachesOut === true)) return WAITING_AT_ONCE;
  if (threads === undefined || instances.length === 1) return 1;
  const rules = assets.filter(({ flow }) => flow === undefined);
  // What cannot be loaded is the failure of each instance that needs it.
  const isCompiledHere = (rule: BoundAsset): Promise<boolean> =>
    library.get(workspaceId, versionOf(rule)).then(
      (compiled) => compiled !== undefined,
      () => true,
    );
  return (await Promise.all(rules.map(isCompiledHere))).includes(false) ? IN_THREADS_AT_ONCE : 1;
};

/** Keys of the flows of a context that run in enclosing operations (C68). */
export const ancestorsOf = (
  contextId: string,
  within: readonly RunningOperation[] = [],
): ReadonlySet<string> | undefined => {
  const own = within.filter((operation) => operation.contextId === contextId);
  return own.length === 0 ? undefined : new Set(own.flatMap(({ activeFlows }) => [...activeFlows]));
};

/** Maximum notifications of one instance in one operation, and their total characters, which its answer contains. */
const MAX_NOTIFICATIONS = 1_000;
const MAX_NOTIFICATION_CHARACTERS = 2_097_152;

/** Passes answers while their notifications together stay within bounds; a flow can run in many rounds. */
const boundNotifications = (): ((answer: AssetAnswer) => AssetAnswer) => {
  let count = 0;
  let characters = 0;
  return (answer) => {
    if (answer.status !== 'success' || answer.notifications === undefined) return answer;
    count += answer.notifications.length;
    for (const { content } of answer.notifications) characters += content.length;
    if (count <= MAX_NOTIFICATIONS && characters <= MAX_NOTIFICATION_CHARACTERS) return answer;
    const error = `The flows of this operation send more than ${MAX_NOTIFICATIONS} notifications, or ${MAX_NOTIFICATION_CHARACTERS} characters, for one instance, which is the limit; send fewer, or let fewer rounds run.`;
    return { status: 'evaluation_error', error, executionId: answer.executionId };
  };
};

/** Faults of one asset with the same code count as one, since thousands of instances can have it. */
const eachOnce = (onFault: SettleSurroundings['onFault']): SettleSurroundings['onFault'] => {
  const reported = new Set<string>();
  return (fault) => {
    const name = `${fault.versionId} ${fault.code}`;
    if (!reported.has(name)) onFault(fault);
    reported.add(name);
  };
};

/** Resolves at once, or, after a full time slice, once the thread has done its other work. */
const createPause = (): (() => Promise<void>) => {
  let sliceBegan = performance.now();
  return async () => {
    if (performance.now() - sliceBegan < SLICE_MS) return;
    await nextTurn();
    sliceBegan = performance.now();
  };
};

const settleOne = async (
  model: ContextModel,
  { assets, now }: SettleRequest,
  instance: SettleInstance,
  { ancestors, ...ports }: SettlePorts & { readonly ancestors: ReadonlySet<string> | undefined },
): Promise<SettledInstance> => {
  const { facts, executions, related, aggregates, history, only, forced } = instance;
  const settled = await settle(
    {
      ...{ model, assets, facts, executions, forced, ancestors },
      only: only && new Set(only),
      sources: {
        now,
        related,
        aggregates,
        history: (fact) => (Object.hasOwn(history, fact) ? (history[fact] ?? []) : []),
      },
    },
    ports,
  );
  return settled as SettledInstance; // undefined members are absent once written, and are not read here
};

const portsOf = (request: SettleRequest, surroundings: SettleSurroundings): Omit<SettlePorts, 'execute'> => {
  const members = new Map(Object.entries(request.collections).map(([name, values]) => [name, new Set(values)]));
  return {
    hash: inputHash,
    isOver: () => Date.now() >= surroundings.deadline,
    isFull: surroundings.isFull,
    tried: surroundings.tried ?? triedInProcess,
    pause: createPause(),
    onFault: (asset, error) => surroundings.onFault(faultOf(asset, failureOf(error))),
    collections: (name) => members.get(name),
  };
};

/** One run of an asset. */
interface AssetToRun {
  readonly asset: BoundAsset;
  readonly inputs: Facts;
  /** Number of its earlier successes for this instance. */
  readonly successes: number;
  readonly instance: SettleInstance;
  readonly request: SettleRequest;
  readonly settling: SettlingInstance;
}

type Evaluated = Pick<OperationRun, 'outcome' | 'durationUs'>;

const evaluateAsset = async (run: AssetToRun, surroundings: Settling): Promise<AssetAnswer> => {
  const { asset, inputs, instance } = run;
  const evaluate = asset.flow === undefined ? evaluateRuleOf : evaluateFlowOf;
  const evaluated = await evaluate(run, surroundings).catch(failureOf);
  if (evaluated instanceof ServiceError) return withoutAnswer(asset, evaluated, surroundings);
  const { outcome } = evaluated;
  const executionId = surroundings.onRun({ asset, instanceId: instance.instanceId, inputs, ...evaluated });
  if (outcome.ok) {
    const notifications = 'notifications' in outcome ? outcome.notifications : undefined;
    return { status: 'success', outputs: outcome.output, executionId, notifications };
  }
  const { code, message: error } = outcome.error;
  if (code === 'evaluation_failed') return { status: 'evaluation_error', error, executionId };
  return { ...withoutAnswer(asset, new ServiceError(code, error), surroundings), executionId };
};

const evaluateRuleOf = async (
  { asset, inputs, request: { now } }: AssetToRun,
  surroundings: Settling,
): Promise<Evaluated> => {
  const { library, workspaceId } = surroundings;
  const rule = await library.get(workspaceId, versionOf(asset));
  const beganAt = performance.now();
  const outcome = evaluateHere(rule, inputs, now, surroundings);
  if (outcome === undefined) return evaluateInThread(asset, inputs, surroundings);
  return { outcome, durationUs: (performance.now() - beganAt) * 1_000 };
};

/**
 * Its external calls have the same keys when the operation is repeated, and when it is retried after a failure, and new keys after a
 * success (C76).
 */
const evaluateFlowOf = async (
  { asset, inputs, successes, instance, request, settling }: AssetToRun,
  { flows, workspaceId, deadline, requestId, keyId, within = [] }: SettleSurroundings,
): Promise<Evaluated> => {
  if (flows === undefined) throw new ServiceError('internal_error', 'Flows cannot be run here.');
  const versionId = versionOf(asset);
  const { instanceId, createdAt = '' } = instance;
  const idempotencyRoot = JSON.stringify([request.contextId, instanceId, createdAt, asset.slug]);
  const beganAt = performance.now();
  const { outcome } = await flows.run({
    ...{ workspaceId, versionId, deadline, idempotencyRoot, round: successes, requestId, keyId },
    within: [...within, toRunning(request, instanceId, asset, settling)],
    ...{ input: inputs, now: request.now, trace: true, follows: asset.flow?.follows },
  });
  return { outcome, durationUs: (performance.now() - beganAt) * 1_000 };
};

/** Senders of the previous release do not send the id of their operation. */
const UNKNOWN_OPERATION = '00000000-0000-0000-0000-000000000000';

/** The operation as a flow of the instance sees it. */
const toRunning = (
  { contextId, contexts, operationId = UNKNOWN_OPERATION }: SettleRequest,
  instanceId: string,
  flow: BoundAsset,
  settling: SettlingInstance,
): RunningOperation => ({
  ...{ operationId, contextId, instanceId },
  contextSlug: contexts.find(({ id }) => id === contextId)?.slug ?? '',
  activeFlows: new Set([assetKey(flow)]),
  read: () => settling.state(),
  join: (facts) => {
    const fault = settling.join(facts);
    if (fault !== undefined) throw new ServiceError('facts_invalid', fault);
  },
});

const withoutAnswer = (
  asset: BoundAsset,
  failure: ServiceError,
  { onFault }: Pick<SettleSurroundings, 'onFault'>,
): { readonly status: 'infrastructure_error'; readonly error: string } => {
  onFault(faultOf(asset, failure));
  return { status: 'infrastructure_error', error: failure.message };
};

const faultOf = (asset: BoundAsset, failure: ServiceError): SettleFault => {
  const { code, cause = failure } = failure;
  return { [asset.type]: asset.slug, versionId: versionOf(asset), code, cause };
};

/** Undefined if it is too long for this thread. */
const evaluateHere = (
  rule: CompiledRule | undefined,
  inputs: Facts,
  now: number,
  { threads }: SettleSurroundings,
): RuleOutcome | undefined => {
  const evaluate = threads === undefined ? evaluateRule : evaluateBriefly;
  return rule && evaluate(rule, inputs, { now, explain: 'none' });
};

const evaluateInThread = async (
  { effectiveVersion: versionId }: BoundAsset,
  inputs: Facts,
  { inThread }: Settling,
): Promise<Evaluated> => {
  if (inThread === undefined) throw new ServiceError('internal_error', 'There is no thread for long evaluations.');
  const { error, result, matched, durationUs } = await inThread(versionId, JSON.stringify(inputs));
  if (error === undefined) return { outcome: { ok: true, output: JSON.parse(result) as Facts, matched }, durationUs }; // outputs are an object
  if (error.code !== 'evaluation_failed' || error.details['reason'] === 'took_too_long') throw error;
  const { code, message, details } = error;
  return { outcome: { ok: false, error: { code, message, details } }, durationUs };
};

const failureOf = (error: unknown): ServiceError =>
  error instanceof ServiceError
    ? error
    : new ServiceError('internal_error', 'The rule or flow could not be loaded or evaluated.', {}, { cause: error });

/** Compiled contexts, by the state of their definitions. */
export interface ContextModels {
  /** Throws `internal_error` if the context does not compile, which its sender has ruled out. */
  get(workspaceId: string, request: SettleRequest): ContextModel;
}

export const createContextModels = (maxEntries = 1_000): ContextModels => {
  const models = new LRUCache<string, ContextModel>({ max: maxEntries });
  return {
    get: (workspaceId, request) => {
      const key = `${workspaceId} ${request.contextId} ${request.revision}`;
      const model = models.get(key) ?? compile(request);
      models.set(key, model);
      return model;
    },
  };
};

const compile = ({ contextId, contexts, relationships }: SettleRequest): ContextModel => {
  const world = { contexts: new Map(contexts.map((context) => [context.id, context])), relationships };
  const definition = world.contexts.get(contextId);
  const compilation = definition && compileContext(definition, world);
  if (compilation?.ok === true) return compilation.model;
  throw new ServiceError('internal_error', 'The context of the operation cannot be compiled.');
};
