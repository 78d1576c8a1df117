import { type BatchAnswer, type BatchResult } from '@decision/contracts';
import { type BatchWork } from './carry-out-chunk';
import { CascadeSums } from './cascade-sums';
import { type ChunkAnswer, type LinesBatch } from './submit-lines';

type Totals = Omit<BatchAnswer, 'results' | 'rejections'>;

/** What remains of chunks that were answered: counts, and a summary for each context and relation. */
class BatchTotals {
  private accepted = 0;
  private rejected = 0;
  private executed = 0;
  private degraded: string | undefined;
  private readonly cascaded = new CascadeSums();

  add({ accepted, executed, rejections, cascaded, degraded }: ChunkAnswer): void {
    this.accepted += accepted;
    this.rejected += rejections.length;
    this.executed += executed;
    this.degraded ??= degraded;
    this.cascaded.add(cascaded);
  }

  toAnswer({ definition, origin }: BatchWork): Totals {
    const elapsed = Date.now() - origin.now;
    return {
      context: definition.slug,
      ...{ accepted: this.accepted, rejected: this.rejected, executed: this.executed },
      cascaded: this.cascaded.list(),
      ...(this.degraded === undefined ? {} : { execution_degraded: this.degraded }),
      timings: { total_ms: elapsed, ingest_ms: elapsed },
    };
  }
}

/** One answer for the whole batch, in which each instance stands once: its entries are all that is held. */
export const answerWhole = async (work: BatchWork, { answers }: LinesBatch): Promise<BatchAnswer> => {
  const totals = new BatchTotals();
  const results = new Map<string, BatchResult>();
  const rejections: BatchAnswer['rejections'] = [];
  for await (const answer of answers) {
    totals.add(answer);
    rejections.push(...answer.rejections);
    for (const result of answer.results) {
      const earlier = results.get(result.instance_id);
      results.set(result.instance_id, earlier === undefined ? result : joinResults(earlier, result));
    }
  }
  return { ...totals.toAnswer(work), rejections, results: [...results.values()] };
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
  yield JSON.stringify(totals.toAnswer(work));
}

/** An instance that two chunks named: as the later one left it, with what both did. */
export const joinResults = (earlier: BatchResult, later: BatchResult): BatchResult => {
  const joined: BatchResult = { ...earlier, ...later };
  if (earlier.is_new !== undefined) joined.is_new = earlier.is_new;
  if (earlier.positions !== undefined) joined.positions = [...earlier.positions, ...(later.positions ?? [])];
  if (earlier.executed !== undefined) joined.executed = [...earlier.executed, ...(later.executed ?? [])];
  if (earlier.triggered === true || later.triggered === true) {
    if (later.triggered !== undefined) joined.triggered = true;
    delete joined.reason;
  }
  return joined;
};
