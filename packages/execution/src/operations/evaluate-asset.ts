import { type AssetAnswer, assetKey, type BoundAsset, type Facts, type SettlingInstance } from '@decision/contexts';
import { ServiceError, type SettleInstance, type SettleRequest } from '@decision/contracts';
import { type CompiledRule, evaluateBriefly, evaluateRule, type RuleOutcome } from '@decision/engine';
import { type FlowOutcome, type RunningOperation } from '@decision/flows';
import { type FlowRunner } from '../flows/flow-runner';
import { type RuleLibrary } from '../rule-library';
import { type EvaluationThreads } from '../threads/evaluation-threads';
import { type gatherEvaluations } from '../threads/gather-evaluations';

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

/** Dependencies of the runs of one operation. */
export interface EvaluationSurroundings {
  readonly workspaceId: string;
  /** Epoch ms after which nobody waits for the answer. */
  readonly deadline: number;
  readonly library: Pick<RuleLibrary, 'get' | 'peek'>;
  /** Threads for long evaluations; undefined: they run in this thread. */
  readonly threads?: Pick<EvaluationThreads, 'solveFirst'> | undefined;
  /** Sends evaluations to the threads together; undefined if there are none. */
  readonly inThread: ReturnType<typeof gatherEvaluations> | undefined;
  /** Undefined: flows cannot run here. */
  readonly flows?: Pick<FlowRunner, 'run'> | undefined;
  /** Enclosing operations, innermost last. Default: none. */
  readonly within?: readonly RunningOperation[] | undefined;
  /** Identifies the request in external calls of flows. */
  readonly requestId: string;
  /** Id of the API key that asked; absent if no key did. */
  readonly keyId?: string | undefined;
  /** Receives each evaluation, for logs and counts; answers its id among decisions. */
  readonly onRun: (run: OperationRun) => string | undefined;
  /** Receives each fault once per operation, however many instances have it. */
  readonly onFault: (fault: SettleFault) => void;
}

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

/** Evaluates at once if the rule is at hand, as it is for nearly all instances. */
export const evaluateAsset = (
  run: AssetToRun,
  surroundings: EvaluationSurroundings,
): Promise<AssetAnswer> | AssetAnswer => {
  const evaluate = run.asset.flow === undefined ? evaluateRuleOf : evaluateFlowOf;
  const failed = (error: unknown): AssetAnswer => withoutAnswer(run.asset, failureOf(error), surroundings);
  let evaluated: Promise<Evaluated> | Evaluated;
  try {
    evaluated = evaluate(run, surroundings);
  } catch (error) {
    return failed(error);
  }
  if (!(evaluated instanceof Promise)) return answerOf(run, evaluated, surroundings);
  return evaluated.then((outcome) => answerOf(run, outcome, surroundings), failed);
};

const answerOf = (
  { asset, inputs, instance }: AssetToRun,
  { outcome, durationUs }: Evaluated,
  surroundings: EvaluationSurroundings,
): AssetAnswer => {
  const { instanceId } = instance;
  const executionId = surroundings.onRun({ asset, instanceId, inputs, outcome, durationUs });
  if (outcome.ok) {
    const notifications = 'notifications' in outcome ? outcome.notifications : undefined;
    return { status: 'success', outputs: outcome.output, executionId, notifications };
  }
  const { code, message: error } = outcome.error;
  if (code === 'evaluation_failed') return { status: 'evaluation_error', error, executionId };
  return { ...withoutAnswer(asset, new ServiceError(code, error), surroundings), executionId };
};

const evaluateRuleOf = (run: AssetToRun, surroundings: EvaluationSurroundings): Promise<Evaluated> | Evaluated => {
  const { library, workspaceId } = surroundings;
  const versionId = versionOf(run.asset);
  const rule = library.peek(workspaceId, versionId);
  if (rule !== undefined) return evaluateRuleBy(rule, run, surroundings);
  return library.get(workspaceId, versionId).then((loaded) => evaluateRuleBy(loaded, run, surroundings));
};

/** `rule` is undefined if it is too large to be compiled in this thread. */
const evaluateRuleBy = (
  rule: CompiledRule | undefined,
  { asset, inputs, request: { now } }: AssetToRun,
  surroundings: EvaluationSurroundings,
): Promise<Evaluated> | Evaluated => {
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
  { flows, workspaceId, deadline, requestId, keyId, within = [] }: EvaluationSurroundings,
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
  { onFault }: Pick<EvaluationSurroundings, 'onFault'>,
): { readonly status: 'infrastructure_error'; readonly error: string } => {
  onFault(faultOf(asset, failure));
  return { status: 'infrastructure_error', error: failure.message };
};

export const faultOf = (asset: BoundAsset, failure: ServiceError): SettleFault => {
  const { code, cause = failure } = failure;
  return { [asset.type]: asset.slug, versionId: versionOf(asset), code, cause };
};

/** Undefined if it is too long for this thread. */
const evaluateHere = (
  rule: CompiledRule | undefined,
  inputs: Facts,
  now: number,
  { threads }: EvaluationSurroundings,
): RuleOutcome | undefined => {
  const evaluate = threads === undefined ? evaluateRule : evaluateBriefly;
  return rule && evaluate(rule, inputs, { now, explain: 'none' });
};

const evaluateInThread = async (
  { effectiveVersion: versionId }: BoundAsset,
  inputs: Facts,
  { inThread }: EvaluationSurroundings,
): Promise<Evaluated> => {
  if (inThread === undefined) throw new ServiceError('internal_error', 'There is no thread for long evaluations.');
  const { error, result, matched, durationUs } = await inThread(versionId, JSON.stringify(inputs));
  if (error === undefined) return { outcome: { ok: true, output: JSON.parse(result) as Facts, matched }, durationUs }; // outputs are an object
  if (error.code !== 'evaluation_failed' || error.details['reason'] === 'took_too_long') throw error;
  const { code, message, details } = error;
  return { outcome: { ok: false, error: { code, message, details } }, durationUs };
};

export const failureOf = (error: unknown): ServiceError =>
  error instanceof ServiceError
    ? error
    : new ServiceError('internal_error', 'The rule or flow could not be loaded or evaluated.', {}, { cause: error });
