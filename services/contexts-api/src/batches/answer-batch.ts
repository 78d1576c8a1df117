import { MOST_MISMATCHES, RejectionList } from '@decision/contexts';
import { type BatchAnswer, type BatchResult } from '@decision/contracts';
import { toldOfRejections } from '../instances/instance-answers';
import { type BatchWork } from './carry-out-chunk';
import { type ChunkAnswer, type LinesBatch } from './submit-lines';

type Totals = Omit<BatchAnswer, 'results' | 'rejections'>;

/** Totals of the chunks that were answered. */
class BatchTotals {
  private accepted = 0;
  private rejected = 0;
  private executed = 0;
  private ignored = 0;
  private degraded: string | undefined;

  add({ accepted, executed, ignored, rejections, degraded }: ChunkAnswer): void {
    this.accepted += accepted;
    this.rejected += rejections.length;
    this.executed += executed;
    this.ignored += ignored;
    this.degraded ??= degraded;
  }

  toAnswer({ definition, origin }: BatchWork, batch: LinesBatch): Totals {
    const elapsed = Date.now() - origin.now;
    const cascaded = [...batch.cascaded()];
    const { accepted, rejected, executed, ignored } = this;
    return {
      context: definition.slug,
      ...{ accepted, rejected, executed, ignored, cascaded },
      ...toldOfRejections(cascaded),
      ...(this.degraded === undefined ? {} : { execution_degraded: this.degraded }),
      timings: { total_ms: elapsed, ingest_ms: elapsed },
    };
  }
}

/** One answer for the whole batch, in which each instance stands once: its entries are all that is held. */
export const answerWhole = async (work: BatchWork, batch: LinesBatch): Promise<BatchAnswer> => {
  const totals = new BatchTotals();
  const results = new Map<string, BatchResult>();
  const rejections = new RejectionList();
  for await (const answer of batch.answers) {
    totals.add(answer);
    for (const rejection of answer.rejections) rejections.add(rejection);
    for (const result of answer.results) {
      const earlier = results.get(result.instance_id);
      results.set(result.instance_id, earlier === undefined ? result : joinResults(earlier, result));
    }
  }
  const omitted = rejections.count - rejections.listed.length;
  return {
    ...totals.toAnswer(work, batch),
    rejections: rejections.listed,
    ...(omitted > 0 ? { rejections_omitted: omitted } : {}),
    results: [...results.values()],
  };
};

/**
 * Lines: each result and each rejection (which has a `position` and no `instance_id`), as their chunk is answered, and at last the totals. An
 * instance that several chunks name stands once for each. Nothing of them is held.
 */
export async function* answerLines(work: BatchWork, batch: LinesBatch): AsyncGenerator<string> {
  const totals = new BatchTotals();
  for await (const answer of batch.answers) {
    totals.add(answer);
    for (const entry of [...answer.results, ...answer.rejections]) yield JSON.stringify(entry);
    batch.told(answer.results);
  }
  yield JSON.stringify(totals.toAnswer(work, batch));
}

/** An instance that two chunks named: as the later one left it, with what both did. */
export const joinResults = (earlier: BatchResult, later: BatchResult): BatchResult => {
  const joined: BatchResult = { ...earlier, ...later };
  if (later.stopped_by === undefined) {
    delete joined.unfinished;
    delete joined.stopped_by;
  }
  if (earlier.is_new !== undefined) joined.is_new = earlier.is_new;
  if (earlier.positions !== undefined) joined.positions = [...earlier.positions, ...(later.positions ?? [])];
  if (earlier.ignored !== undefined)
    joined.ignored = [...earlier.ignored, ...(later.ignored ?? [])].slice(0, MOST_MISMATCHES);
  if (earlier.ignored_count !== undefined) joined.ignored_count = earlier.ignored_count + (later.ignored_count ?? 0);
  if (earlier.executed !== undefined) joined.executed = [...earlier.executed, ...(later.executed ?? [])];
  if (earlier.triggered === true || later.triggered === true) {
    if (later.triggered !== undefined) joined.triggered = true;
    delete joined.reason;
  }
  return joined;
};
