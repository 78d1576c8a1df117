import { type AssetRun, type GivenInstance, type Mismatch, sentenceOf, type Settled } from '@decision/contexts';
import {
  type CascadeRejection,
  type CascadeResult,
  type ContextCascadeSummary,
  type Remarks,
  ServiceError,
  type SubmitAnswer,
} from '@decision/contracts';
import { type OpenContext } from '../definitions/context-directory';
import { type InstanceOutcome, type RequestOrigin } from '../operations/work';

/** Outcome of an asset, as shown in the answer to a submission. */
export const toCascadeResult = (context: string, run: AssetRun, autoExecuted = true): CascadeResult => ({
  context,
  ...(run.type === 'rule' ? { rule: run.slug } : { flow: run.slug }),
  status: run.status === 'success' ? 'solved' : run.status,
  ...(run.executionId === undefined ? {} : { execution_id: run.executionId }),
  ...(run.result === undefined ? {} : { result: run.result }),
  auto_executed: autoExecuted,
  ...(run.written === undefined ? {} : { written_to_context: [...run.written] }),
  ...(run.cleared === undefined ? {} : { cleared: [...run.cleared] }),
  ...(run.error === undefined ? {} : { error: run.error }),
});

export const nameOfInstance = (slug: string, instanceId: string): string => `${slug}:${instanceId}`;

/** Facts of a request that are not merged. */
export type IgnoredFacts = Pick<GivenInstance, 'ignored' | 'ignoredCount'>;

/** Lists the facts that were not merged (C28); empty if all were. */
export const ignoredRemarks = ({ ignored, ignoredCount }: IgnoredFacts): Remarks =>
  ignoredCount === 0
    ? {}
    : {
        ignored: ignored.map(({ fact, error }) => ({ fact: shown(fact), reason: error })),
        ignored_count: ignoredCount,
      };

/** Lists the assets that are still due, with the reasons (C67); empty if none is. */
export const endRemarks = ({ ended, unfinished }: Settled): Remarks =>
  ended === 'fixpoint' ? {} : { unfinished: [...unfinished], stopped_by: ended };

/** The dependents that must be evaluated again (C119); empty if all were evaluated. */
export const rejectionRemarks = (
  readers: readonly ContextCascadeSummary[],
): { cascade_rejections?: CascadeRejection[] } => {
  const rejections = readers.flatMap((summary): CascadeRejection[] => {
    const { context, relation, failed_instance_ids: ids, error, execution_degraded: degraded } = summary;
    if (ids === undefined && error === undefined) return [];
    return [{ context, relation, instance_ids: [...(ids ?? [])], error: error ?? degraded ?? NOT_SETTLED }];
  });
  return rejections.length === 0 ? {} : { cascade_rejections: rejections };
};

const NOT_SETTLED = 'What is due for these instances was not run to its end; submit them again.';

/** Outcome of a single submission. */
export interface CarriedOut {
  readonly outcome: InstanceOutcome;
  readonly readers: readonly ContextCascadeSummary[];
  readonly ignored: IgnoredFacts;
}

/** The answer of a single submission (C125). */
export const toSubmitAnswer = (slug: string, { outcome, readers, ignored }: CarriedOut): SubmitAnswer => {
  const { instanceId, resolved, settled, isNew, expiresAt } = outcome;
  const context = nameOfInstance(slug, instanceId);
  return {
    context,
    state: resolved.state,
    status: resolved.status,
    have: [...resolved.have],
    need: [...resolved.need],
    is_new: isNew,
    ...outcome.outcome,
    expires_at: expiresAt,
    cascaded: [...settled.runs.map((run) => toCascadeResult(context, run)), ...readers],
    ...(settled.degraded === undefined ? {} : { execution_degraded: settled.degraded }),
    ...rejectionRemarks(readers),
    ...ignoredRemarks(ignored),
    ...endRemarks(settled),
  };
};

/** A text of a client, shortened for an answer. */
export const shown = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}...` : text);

export const instanceNotFound = (slug: string, instanceId: string): ServiceError =>
  new ServiceError('instance_not_found', `The context "${slug}" has no instance "${shown(instanceId)}".`, {
    context: slug,
  });

export const factsInvalid = (
  mismatches: readonly Pick<Mismatch, 'fact' | 'error'>[],
  count: number = mismatches.length,
): ServiceError =>
  new ServiceError('facts_invalid', sentenceOf(mismatches, count), {
    facts: mismatches.map(({ fact, error }) => ({ fact: shown(fact), error })),
  });

/** An error that states which part of the request is committed (batch rule 10), and for which part this is unknown. */
export const withCommits = (
  error: ServiceError,
  { committed, unknown }: { readonly committed: ReadonlySet<string>; readonly unknown?: ReadonlySet<string> },
): ServiceError =>
  new ServiceError(
    error.code,
    error.message,
    {
      ...error.details,
      ...{ committed_count: committed.size, committed_instance_ids: [...committed] },
      ...(unknown === undefined || unknown.size === 0 ? {} : { unknown_instance_ids: [...unknown] }),
    },
    { cause: error.cause },
  );

/** One instance that a request names. */
export interface NamedInstance {
  readonly context: OpenContext;
  readonly instanceId: string;
  readonly origin: RequestOrigin;
}
