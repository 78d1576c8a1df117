import { type ExecutionRecord } from '@decision/contracts';
import { assetKey, type BoundAsset } from '../assets/bound-asset';
import { type Executions } from './settle-task';

/** A run that is to be noted. */
interface FinishedRun {
  readonly asset: BoundAsset;
  readonly status: 'success' | 'evaluation_error' | 'infrastructure_error';
  readonly inputHash: string;
  /** Epoch ms. */
  readonly now: number;
  readonly written: readonly string[];
  readonly error?: string | undefined;
}

/** Characters of an error that are kept. */
const ERROR_LENGTH = 1_000;
const UNSTORABLE = /\u0000|\p{Surrogate}/gu;

/** An error as the database can hold it. */
const storable = (error: string): string => error.slice(0, ERROR_LENGTH).replace(UNSTORABLE, '?');

/**
 * Executions after others gave or wrote these facts: no asset owns them any more (C66). Answers the very same object where no asset did, so that a
 * merge need not write executions.
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

/** Executions after a run (C70). A fact that it wrote is owned by its asset alone. */
export const noteRun = (executions: Executions, run: FinishedRun): Executions => {
  const key = assetKey(run.asset);
  return { ...disownFacts(executions, run.written), [key]: recordRun(executions[key], run) };
};

/** A failure keeps the record of the facts that the last success wrote: they still stand. */
const recordRun = (before: ExecutionRecord | undefined, run: FinishedRun): ExecutionRecord => {
  const { asset, status, inputHash, now, written, error } = run;
  const succeeded = { effective_version: asset.effectiveVersion, input_hash: inputHash };
  const lastSuccess = status === 'success' ? succeeded : before?.last_success;
  return {
    type: asset.type,
    slug: asset.slug,
    status,
    ...succeeded,
    run_count: (before?.run_count ?? 0) + 1,
    timestamp: new Date(now).toISOString(),
    written_to_context: status === 'success' ? [...written] : (before?.written_to_context ?? []),
    owned_facts: status === 'success' ? [...written] : (before?.owned_facts ?? []),
    ...(error === undefined ? {} : { error: storable(error) }),
    ...(lastSuccess === undefined ? {} : { last_success: lastSuccess }),
  };
};
