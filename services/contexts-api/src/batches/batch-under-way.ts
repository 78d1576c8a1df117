import { type GivenInstance, hasRun } from '@decision/contexts';
import { type BatchInclude, type BatchResult, type ServiceError } from '@decision/contracts';
import {
  BatchCascade,
  BatchProgress,
  type BatchWork,
  carryOutChunk,
  type Commits,
  newCommits,
} from '@decision/operations';
import { batchResultsWith, type ToBatchResult } from './answer-batch';

/** Outcome of some instances. Only the requested fields are kept: whole outcomes of a large batch would fill the memory. */
export interface CarriedOut {
  /** By instance id; an instance that failed has none. */
  readonly results: ReadonlyMap<string, BatchResult>;
  /** Runs of rules and flows. */
  readonly executed: number;
  readonly degraded: string | undefined;
  /** The first failure. */
  readonly failure: ServiceError | undefined;
}

/** A batch in progress. */
export class BatchUnderWay {
  readonly commits: Commits = newCommits();
  readonly cascade: BatchCascade;
  private readonly toResult: ToBatchResult;

  constructor(
    readonly work: BatchWork,
    fields: ReadonlySet<BatchInclude>,
  ) {
    this.cascade = new BatchCascade(work);
    this.toResult = batchResultsWith(fields);
  }

  /** Merges a chunk of instances and runs the due assets. Throws only if the readers of earlier chunks cannot be re-evaluated. */
  async carryOut(instances: readonly GivenInstance[]): Promise<CarriedOut> {
    const progress = new BatchProgress(this.commits);
    if (instances.length > 0) await carryOutChunk(this.work, instances, progress);
    const { outcomes, failure } = progress;
    await this.cascade.add(outcomes.values());
    const results = new Map<string, BatchResult>();
    let executed = 0;
    let degraded: string | undefined;
    for (const given of instances) {
      const outcome = outcomes.get(given.instanceId);
      if (outcome === undefined) continue;
      results.set(given.instanceId, this.toResult(outcome, given));
      executed += outcome.settled.runs.filter(hasRun).length;
      degraded ??= outcome.settled.degraded;
    }
    return { results, executed, degraded, failure };
  }
}
