import { hasRun } from '@decision/contexts';
import { type ContextCascadeSummary } from '@decision/contracts';
import { type WorkResult } from '../operations/work';
import { type ReadingRelationship } from './find-readers';

/** Ids of failed instances that a summary names. */
const MOST_NAMED = 1_000;

/** Counts what became of readers, by context and relation (C119). */
export class Summaries {
  private readonly byRelation = new Map<string, ContextCascadeSummary>();
  private failures = 0;

  /** Whether every reader so far was evaluated, whatever was found. */
  get allWell(): boolean {
    return this.failures === 0;
  }

  /** Answers the ids of those that were not evaluated to the end. */
  add({ relationship, reader }: ReadingRelationship, { outcomes, failures }: WorkResult): readonly string[] {
    const failed: string[] = [];
    const summary = this.of(relationship.name, reader.slug, relationship.id);
    summary.instances += outcomes.size + failures.size;
    for (const [instanceId, { settled }] of outcomes) {
      const count = (status: string): number => settled.runs.filter((run) => run.status === status).length;
      summary.executed += settled.runs.filter(hasRun).length;
      summary.skipped += count('skipped_already_run');
      summary.evaluation_errors += count('evaluation_error');
      summary.infrastructure_errors += count('infrastructure_error');
      if (settled.degraded !== undefined) summary.execution_degraded = settled.degraded;
      if (count('infrastructure_error') > 0 || settled.ended !== 'fixpoint') failed.push(instanceId);
    }
    for (const [instanceId, failure] of failures) {
      summary.infrastructure_errors += 1;
      summary.error = failure.message;
      failed.push(instanceId);
    }
    for (const id of failed) this.fail(summary, id);
    return failed;
  }

  /** A relation whose readers could not even be looked for. */
  broken({ relationship, reader }: ReadingRelationship, error: string): void {
    this.of(relationship.name, reader.slug, relationship.id).error = error;
    this.failures += 1;
  }

  list(): ContextCascadeSummary[] {
    return [...this.byRelation.values()].filter(({ instances, error }) => instances > 0 || error !== undefined);
  }

  private of(relation: string, context: string, id: string): ContextCascadeSummary {
    const zero = { instances: 0, executed: 0, skipped: 0, evaluation_errors: 0, infrastructure_errors: 0 };
    const summary = this.byRelation.get(id) ?? { context, relation, ...zero };
    this.byRelation.set(id, summary);
    return summary;
  }

  private fail(summary: ContextCascadeSummary, instanceId: string): void {
    this.failures += 1;
    summary.failed_instance_ids ??= [];
    if (summary.failed_instance_ids.length < MOST_NAMED) summary.failed_instance_ids.push(instanceId);
  }
}
