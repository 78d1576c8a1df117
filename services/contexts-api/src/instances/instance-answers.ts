import { type AssetRun } from '@decision/contexts';
import { type CascadeResult, type ContextCascadeSummary, type SubmitAnswer } from '@decision/contracts';
import { type InstanceOutcome } from '../operations/work';

/** What became of an asset, for whoever submitted. */
export const toCascadeResult = (context: string, run: AssetRun, autoExecuted = true): CascadeResult => ({
  context,
  ...(run.type === 'rule' ? { rule: run.slug } : { flow: run.slug }),
  status: run.status === 'success' ? 'solved' : run.status,
  ...(run.result === undefined ? {} : { result: run.result }),
  auto_executed: autoExecuted,
  ...(run.written === undefined ? {} : { written_to_context: [...run.written] }),
  ...(run.error === undefined ? {} : { error: run.error }),
});

export const nameOfInstance = (slug: string, instanceId: string): string => `${slug}:${instanceId}`;

/** The answer of a single submission (C125). */
export const toSubmitAnswer = (
  slug: string,
  outcome: InstanceOutcome,
  readers: readonly ContextCascadeSummary[],
): SubmitAnswer => {
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
    ...(settled.ended === 'fixpoint' ? {} : { unfinished: [...settled.unfinished], stopped_by: settled.ended }),
  };
};
