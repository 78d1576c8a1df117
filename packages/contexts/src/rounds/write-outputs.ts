import { type ExecutionRecord } from '@decision/contracts';
import { assetKey, type BoundAsset } from '../assets/bound-asset';
import { type ContextModel } from '../definitions/context-model';
import { faultOfStoring } from '../facts/fact-type';
import { type Facts, faultOfFactName, quoted } from '../facts/facts';
import { type Collections, mismatchOfValue } from '../instances/check-record';
import { type Executions } from './settle-task';

type OutputsWrite =
  | {
      readonly ok: true;
      readonly facts: Facts;
      readonly written: readonly string[];
      /** Facts that lost their value (C66). */
      readonly cleared: readonly string[];
    }
  /** Why no part of the answer is written (C65). */
  | { readonly ok: false; readonly error: string };

interface OutputsToWrite {
  readonly model: ContextModel;
  readonly asset: BoundAsset;
  readonly outputs: Facts;
  readonly collections: Collections;
  readonly facts: Facts;
  /** As they were before this run. */
  readonly executions: Executions;
}

/** Merges an asset's answer into the facts (C64 to C66). The arguments are not changed. */
export const writeOutputs = (task: OutputsToWrite): OutputsWrite => {
  const { model, outputs, facts } = task;
  const written: string[] = [];
  for (const fact of Object.keys(outputs)) {
    const error = faultOfOutput(task, fact, outputs[fact]);
    if (error !== undefined) return { ok: false, error };
    if (model.facts.has(fact) || model.definition.onSchemaMismatch === 'store') written.push(fact);
  }
  const cleared = factsLeftOut(task, written);
  const changed: Record<string, unknown> = { ...factsWithout(facts, cleared) };
  for (const fact of written) changed[fact] = outputs[fact]; // no fact is named `__proto__`
  return { ok: true, facts: changed, written, cleared };
};

const factsWithout = (facts: Facts, cleared: readonly string[]): Facts => {
  if (cleared.length === 0) return facts;
  const gone = new Set(cleared);
  return Object.fromEntries(Object.entries(facts).filter(([fact]) => !gone.has(fact)));
};

const faultOfOutput = ({ model, collections }: OutputsToWrite, fact: string, value: unknown): string | undefined => {
  const answers = `It answered ${quoted(fact)}`;
  if (fact === model.identity.key) return `${answers}, the identity fact, which bound rules and flows cannot write.`;
  if (model.derived.has(fact)) return `${answers}, which is derived.`;
  const declared = model.facts.get(fact);
  if (declared === undefined && model.definition.onSchemaMismatch === 'reject')
    return `${answers}, which is not a fact of the context.`;
  if (declared === undefined && model.definition.onSchemaMismatch === 'ignore') return undefined;
  const unstorable = faultOfFactName(fact) ?? faultOfStoring(value);
  if (unstorable !== undefined) return `${answers}, which ${unstorable}.`;
  return declared === undefined ? undefined : mismatchOfValue(declared, value, collections)?.error;
};

/** Facts that this asset owns, that are set (even to null), and that it did not answer again (C66). */
const factsLeftOut = ({ asset, facts, executions }: OutputsToWrite, written: readonly string[]): readonly string[] => {
  const owned = executions[assetKey(asset)]?.owned_facts ?? [];
  if (owned.length === 0) return owned;
  const kept = new Set(written);
  return owned.filter((fact) => !kept.has(fact) && Object.hasOwn(facts, fact));
};

/** A run to record. */
interface FinishedRun {
  readonly asset: BoundAsset;
  readonly status: 'success' | 'evaluation_error' | 'infrastructure_error';
  readonly inputHash: string;
  /** Epoch ms. */
  readonly now: number;
  readonly written: readonly string[];
  readonly error?: string | undefined;
}

/** Maximum characters of a stored error. */
const ERROR_LENGTH = 1_000;
const UNSTORABLE = /\u0000|\p{Surrogate}/gu;

/** An error in a form that the database can hold. */
const storable = (error: string): string => error.slice(0, ERROR_LENGTH).replace(UNSTORABLE, '?');

/**
 * Executions after these facts were given or written by others: no asset owns them any longer (C66). Answers the same object if no asset
 * owned any, so that a merge need not write executions. `except` is the key of the asset that wrote them, if one did.
 */
export const disownFacts = (executions: Executions, facts: readonly string[], except?: string): Executions => {
  const keys = Object.keys(executions);
  if (facts.length === 0 || keys.length === 0) return executions;
  const taken = new Set(facts);
  let changed: Record<string, ExecutionRecord> | undefined;
  for (const key of keys) {
    const record = executions[key];
    if (key === except || record?.owned_facts?.some((fact) => taken.has(fact)) !== true) continue;
    changed ??= { ...executions };
    changed[key] = { ...record, owned_facts: record.owned_facts.filter((fact) => !taken.has(fact)) };
  }
  return changed ?? executions;
};

/** Executions after a run (C70). Only the asset owns the facts that it wrote. */
export const noteRun = (executions: Executions, run: FinishedRun): Executions => {
  const key = assetKey(run.asset);
  return { ...disownFacts(executions, run.written, key), [key]: recordRun(executions[key], run) };
};

/** A failure keeps the list of facts that the last success wrote, since they remain. */
const recordRun = (before: ExecutionRecord | undefined, run: FinishedRun): ExecutionRecord => {
  const { asset, status, inputHash, now, written, error } = run;
  const versionAndInputs = { effective_version: asset.effectiveVersion, input_hash: inputHash };
  const isSuccess = status === 'success';
  const failures = (before?.failure_count ?? 0) + (isSuccess ? 0 : 1);
  const lastSuccess = isSuccess ? versionAndInputs : before?.last_success;
  const own = [...written];
  const record: ExecutionRecord = {
    type: asset.type,
    slug: asset.slug,
    status,
    ...versionAndInputs,
    run_count: (before?.run_count ?? 0) + 1,
    timestamp: new Date(now).toISOString(),
    written_to_context: isSuccess ? own : (before?.written_to_context ?? []),
    owned_facts: isSuccess ? own : (before?.owned_facts ?? []),
  };
  if (failures > 0) record.failure_count = failures;
  if (error !== undefined) record.error = storable(error);
  if (lastSuccess !== undefined) record.last_success = lastSuccess;
  return record;
};
