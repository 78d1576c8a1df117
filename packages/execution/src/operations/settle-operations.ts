import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type AssetAnswer,
  type BoundAsset,
  type ContextModel,
  settle,
  type SettlePorts,
  TriedMemory,
} from '@decision/contexts';
import { type SettledInstance, type SettleInstance, type SettleRequest } from '@decision/contracts';
import { type RunningOperation } from '@decision/flows';
import { gatherEvaluations } from '../threads/gather-evaluations';
import { type ContextModels } from './context-models';
import { evaluateAsset, type EvaluationSurroundings, faultOf, failureOf, versionOf } from './evaluate-asset';

/** Dependencies of operations. */
interface SettleSurroundings extends Omit<EvaluationSurroundings, 'inThread'> {
  readonly models: ContextModels;
  /** Whether the memory of `onRun` is used up: then no rule runs again for an instance. */
  readonly isFull: () => boolean;
  /** Memory of tried states that the current operations share. Default: one for the process. */
  readonly tried?: TriedMemory;
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
  const within: SettleSurroundings & EvaluationSurroundings = {
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
      const execute: SettlePorts['execute'] = (asset, inputs, successes, settling) => {
        const answer = evaluateAsset({ asset, inputs, successes, instance, request, settling }, within);
        return answer instanceof Promise ? answer.then(bounded) : answer; // only flows notify
      };
      settled[index] = await settleOne(model, request, instance, { ...ports, execute, ancestors });
      const pause = ports.pause();
      if (pause !== undefined) await pause;
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
  // A rule that cannot be loaded fails only the instances that need it.
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

/** After a full time slice, a promise that resolves once the thread has done its other work; before, undefined. */
const createPause = (): (() => Promise<void> | undefined) => {
  let sliceBegan = performance.now();
  return () => {
    if (performance.now() - sliceBegan < SLICE_MS) return undefined;
    return nextTurn().then(() => {
      sliceBegan = performance.now();
    });
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
