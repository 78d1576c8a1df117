import { type ExecutionRecord } from '@decision/contracts';
import { type BoundAsset } from '../assets/bound-asset';

/** A run that is to be noted. */
export interface FinishedRun {
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

/** The record of an asset after a run (C70). Of a failure, what the last success wrote stays noted: those facts still stand. */
export const recordRun = (before: ExecutionRecord | undefined, run: FinishedRun): ExecutionRecord => {
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
    ...(error === undefined ? {} : { error: storable(error) }),
    ...(lastSuccess === undefined ? {} : { last_success: lastSuccess }),
  };
};
