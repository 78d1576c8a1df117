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
  const kept: [string, unknown][] = [];
  for (const [fact, value] of Object.entries(outputs)) {
    const error = faultOfOutput(task, fact, value);
    if (error !== undefined) return { ok: false, error };
    if (model.facts.has(fact) || model.definition.onSchemaMismatch === 'store') kept.push([fact, value]);
  }
  const written = kept.map(([fact]) => fact);
  const cleared = factsLeftOut(task, written);
  return { ok: true, facts: { ...factsWithout(facts, cleared), ...Object.fromEntries(kept) }, written, cleared };
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
 * owned any, so that a merge need not write executions.
 */
export const disownFacts = (executions: Executions, facts: readonly string[]): Executions => {
  if (facts.length === 0) return executions;
  const taken = new Set(facts);
  const changed = Object.entries(executions).flatMap(([key, record]): [string, ExecutionRecord][] => {
    const owned = record.owned_facts ?? [];
    const kept = owned.filter((fact) => !taken.has(fact));
    return kept.length === owned.length ? [] : [[key, { ...record, owned_facts: kept }]];
  });
  return changed.length === 0 ? executions : { ...executions, ...Object.fromEntries(changed) };
};

/** Executions after a run (C70). Only the asset owns the facts that it wrote. */
export const noteRun = (executions: Executions, run: FinishedRun): Executions => {
  const key = assetKey(run.asset);
  return { ...disownFacts(executions, run.written), [key]: recordRun(executions[key], run) };
};

/** A failure keeps the list of facts that the last success wrote, since they remain. */
const recordRun = (before: ExecutionRecord | undefined, run: FinishedRun): ExecutionRecord => {
  const { asset, status, inputHash, now, written, error } = run;
  const succeeded = { effective_version: asset.effectiveVersion, input_hash: inputHash };
  const failures = (before?.failure_count ?? 0) + (status === 'success' ? 0 : 1);
  const lastSuccess = status === 'success' ? succeeded : before?.last_success;
  return {
    type: asset.type,
    slug: asset.slug,
    status,
    ...succeeded,
    run_count: (before?.run_count ?? 0) + 1,
    ...(failures === 0 ? {} : { failure_count: failures }),
    timestamp: new Date(now).toISOString(),
    written_to_context: status === 'success' ? [...written] : (before?.written_to_context ?? []),
    owned_facts: status === 'success' ? [...written] : (before?.owned_facts ?? []),
    ...(error === undefined ? {} : { error: storable(error) }),
    ...(lastSuccess === undefined ? {} : { last_success: lastSuccess }),
  };
};
