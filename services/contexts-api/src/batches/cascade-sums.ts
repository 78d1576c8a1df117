import { type ContextCascadeSummary } from '@decision/contracts';

const COUNTS = ['instances', 'executed', 'skipped', 'evaluation_errors', 'infrastructure_errors'] as const;

/** Summaries of several chunks, one for each context and relation. */
export class CascadeSums {
  private readonly sums = new Map<string, ContextCascadeSummary>();

  add(summaries: readonly ContextCascadeSummary[]): void {
    for (const summary of summaries) {
      const key = `${summary.context} ${summary.relation}`;
      const sum = this.sums.get(key);
      if (sum === undefined) this.sums.set(key, { ...summary });
      else join(sum, summary);
    }
  }

  list(): ContextCascadeSummary[] {
    return [...this.sums.values()];
  }
}

const join = (sum: ContextCascadeSummary, summary: ContextCascadeSummary): void => {
  for (const count of COUNTS) sum[count] += summary[count];
  const failed = [...(sum.failed_instance_ids ?? []), ...(summary.failed_instance_ids ?? [])];
  if (failed.length > 0) sum.failed_instance_ids = failed;
  sum.error ??= summary.error;
  sum.execution_degraded ??= summary.execution_degraded;
};
