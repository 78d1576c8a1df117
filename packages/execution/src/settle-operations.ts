import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type AssetAnswer,
  type BoundAsset,
  type ContextModel,
  type Facts,
  settle,
  type SettlePorts,
} from '@decision/contexts';
import { ServiceError, type SettledInstance, type SettleInstance, type SettleRequest } from '@decision/contracts';
import { evaluateRule, type RuleOutcome } from '@decision/engine';
import { type ContextModels } from './context-models';
import { type RuleLibrary } from './rule-library';

/** A rule that was evaluated within an operation. */
export interface OperationRun {
  readonly asset: BoundAsset;
  readonly inputs: Facts;
  readonly outcome: RuleOutcome;
  readonly durationUs: number;
}

/** What operations are carried out with. */
export interface SettleSurroundings {
  readonly workspaceId: string;
  /** Epoch ms after which nobody waits for the answer. */
  readonly deadline: number;
  readonly library: Pick<RuleLibrary, 'get'>;
  readonly models: ContextModels;
  /** Is told each evaluation, for logs and counts. */
  readonly onRun: (run: OperationRun) => void;
}

/** Work in a row before the process does other things, ms. */
const SLICE_MS = 10;

/** The hash of inputs that executions keep. */
export const inputHash = (text: string): string => hash('sha256', text, 'base64url');

/** Settles the instances of a request one after the other, in slices; answers what each became, in the same order. */
export const settleOperations = async (
  request: SettleRequest,
  surroundings: SettleSurroundings,
): Promise<readonly SettledInstance[]> => {
  const model = surroundings.models.get(surroundings.workspaceId, request);
  const ports = portsOf(request, surroundings);
  const settled: SettledInstance[] = [];
  let sliceBegan = performance.now();
  for (const instance of request.instances) {
    settled.push(await settleOne(model, request, instance, ports));
    if (performance.now() - sliceBegan < SLICE_MS) continue;
    await nextTurn();
    sliceBegan = performance.now();
  }
  return settled;
};

const settleOne = async (
  model: ContextModel,
  { assets, now }: SettleRequest,
  instance: SettleInstance,
  ports: SettlePorts,
): Promise<SettledInstance> => {
  const { facts, executions, related, aggregates, history, only, forced } = instance;
  const settled = await settle(
    {
      ...{ model, assets, facts, executions, forced },
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
  return settled as SettledInstance; // what is undefined in it is absent once it is written, as here nobody asks
};

const portsOf = (request: SettleRequest, surroundings: SettleSurroundings): SettlePorts => {
  const members = new Map(Object.entries(request.collections).map(([name, values]) => [name, new Set(values)]));
  return {
    execute: (asset, inputs) => evaluateAsset(asset, inputs, request.now, surroundings),
    hash: inputHash,
    isOver: () => Date.now() >= surroundings.deadline,
    collections: (name) => members.get(name),
  };
};

const evaluateAsset = async (
  asset: BoundAsset,
  inputs: Facts,
  now: number,
  { library, workspaceId, onRun }: SettleSurroundings,
): Promise<AssetAnswer> => {
  const rule = await library.get(workspaceId, asset.effectiveVersion).catch(failureOf);
  if (rule instanceof ServiceError) return { status: 'infrastructure_error', error: rule.message };
  const beganAt = performance.now();
  const outcome = evaluateRule(rule, inputs, { now, explain: 'none' });
  onRun({ asset, inputs, outcome, durationUs: (performance.now() - beganAt) * 1_000 });
  if (outcome.ok) return { status: 'success', outputs: outcome.output };
  return { status: 'evaluation_error', error: outcome.error.message };
};

const failureOf = (error: unknown): ServiceError =>
  error instanceof ServiceError
    ? error
    : new ServiceError('internal_error', 'The rule could not be loaded.', {}, { cause: error });
