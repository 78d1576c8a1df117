import { type AssetRun, type GivenInstance, MOST_MISMATCHES, type Rejection, RejectionList } from '@decision/contexts';
import {
  type BatchAnswer,
  type BatchInclude,
  type BatchResult,
  type ContextCascadeSummary,
  type ExecutedAsset,
} from '@decision/contracts';
import {
  type BatchWork,
  endRemarks,
  ignoredRemarks,
  type InstanceOutcome,
  rejectionRemarks,
} from '@decision/operations';

/** Outcome of some records of a batch. */
export interface ChunkAnswer {
  readonly accepted: number;
  readonly executed: number;
  /** Facts that were not merged. */
  readonly ignored: number;
  readonly rejections: readonly Rejection[];
  /** One per instance that the chunk names, in order of first mention. */
  readonly results: readonly BatchResult[];
  readonly degraded: string | undefined;
}

/** A batch of lines whose answers are consumed one after the other. */
export interface LinesBatch {
  /**
   * Outcome of each chunk, in order. Throws as a single submission and as reading the body do, once all running work has ended, with the
   * committed instances that were not {@link LinesBatch.acknowledge}d.
   */
  readonly answers: AsyncIterable<ChunkAnswer>;
  /** Outcome of the readers of all merged instances; complete when the answers have ended. */
  cascaded(): readonly ContextCascadeSummary[];
  /** Forgets results that the client has received. */
  acknowledge(results: readonly BatchResult[]): void;
}

type Totals = Omit<BatchAnswer, 'results' | 'rejections'>;

/** Totals over the chunks that were answered. */
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
      ...rejectionRemarks(cascaded),
      ...(this.degraded === undefined ? {} : { execution_degraded: this.degraded }),
      timings: { total_ms: elapsed, ingest_ms: elapsed },
    };
  }
}

/** One answer for the whole batch, with each instance once: only its entries are held in memory. */
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
 * Lines: each result and each rejection (which has a `position` and no `instance_id`), as soon as their chunk is answered, and finally the
 * totals. An instance that several chunks name appears once for each. None of them is held in memory.
 */
export async function* answerLines(work: BatchWork, batch: LinesBatch): AsyncGenerator<string> {
  const totals = new BatchTotals();
  for await (const answer of batch.answers) {
    totals.add(answer);
    for (const entry of [...answer.results, ...answer.rejections]) yield JSON.stringify(entry);
    batch.acknowledge(answer.results);
  }
  yield JSON.stringify(totals.toAnswer(work, batch));
}

/** An instance that two chunks named: its state after the later one, with the outcomes of both. */
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

const executedOf = (run: AssetRun, fields: ReadonlySet<BatchInclude>): ExecutedAsset => ({
  ...{ type: run.type, slug: run.slug, status: run.status },
  ...(run.executionId === undefined ? {} : { execution_id: run.executionId }),
  ...(run.error === undefined ? {} : { error: run.error }),
  ...(run.written === undefined ? {} : { written_to_context: [...run.written] }),
  ...(run.cleared === undefined ? {} : { cleared: [...run.cleared] }),
  ...(run.result === undefined || !fields.has('execution_results') ? {} : { result: run.result }),
});

/** Source of each field of a result. `execution_results` is part of `executed`. */
const FIELDS: Readonly<
  Record<
    Exclude<BatchInclude, 'execution_results'>,
    (outcome: InstanceOutcome, positions: readonly number[], fields: ReadonlySet<BatchInclude>) => Partial<BatchResult>
  >
> = {
  positions: (_, positions) => ({ positions: [...positions] }),
  is_new: ({ isNew }) => ({ is_new: isNew }),
  status: ({ resolved }) => ({ status: resolved.status }),
  have: ({ resolved }) => ({ have: [...resolved.have] }),
  need: ({ resolved }) => ({ need: [...resolved.need] }),
  state: ({ resolved }) => ({ state: { ...resolved.state } }),
  expires_at: ({ expiresAt }) => ({ expires_at: expiresAt }),
  executions: ({ settled }) => ({ executions: { ...settled.executions } }),
  executed: ({ settled }, _, fields) => ({ executed: settled.runs.map((run) => executedOf(run, fields)) }),
  triggered: ({ outcome }) => ({ triggered: outcome.triggered }),
  reason: ({ outcome }) => (outcome.triggered ? {} : { reason: outcome.reason }),
};

/** Makes one entry of a batch's answer. */
export type ToBatchResult = (
  outcome: InstanceOutcome,
  given: Pick<GivenInstance, 'positions' | 'ignored' | 'ignoredCount'>,
) => BatchResult;

/** Entries with the requested fields (C82). Raw results include `executed`. Ignored facts and unfinished assets are always listed. */
export const batchResultsWith = (fields: ReadonlySet<BatchInclude>): ToBatchResult => {
  const names = Object.keys(FIELDS) as (keyof typeof FIELDS)[]; // the keys of a Record are those of its type
  const wanted = names
    .filter((field) => fields.has(field) || (field === 'executed' && fields.has('execution_results')))
    .map((field) => FIELDS[field]);
  return (outcome, given) => {
    const result: BatchResult = { instance_id: outcome.instanceId };
    for (const read of wanted) Object.assign(result, read(outcome, given.positions, fields));
    return Object.assign(result, ignoredRemarks(given), endRemarks(outcome.settled));
  };
};
