import { groupRecords, hasRun, type Rejection } from '@decision/contexts';
import {
  type BatchInclude,
  type BatchResult,
  type ContextCascadeSummary,
  fixedLimits,
  ServiceError,
} from '@decision/contracts';
import { inOrder } from '@decision/service-kit';
import { withFates } from '../instances/instance-errors';
import { loadContextCollections, toCollections } from '../operations/surroundings';
import { tellReaders } from '../readers/tell-readers';
import { toBatchResult } from './batch-result';
import { BatchProgress, type BatchWork, carryOutChunk, CHUNKS_AT_ONCE, type Fates, newFates } from './carry-out-chunk';
import { chunkLines, type LineChunk, readLine } from './record-lines';

/** What became of some records of a batch. */
export interface ChunkAnswer {
  readonly accepted: number;
  readonly executed: number;
  readonly rejections: readonly Rejection[];
  /** One for each instance that the chunk names, in the order in which it does. */
  readonly results: readonly BatchResult[];
  readonly cascaded: readonly ContextCascadeSummary[];
  readonly degraded: string | undefined;
}

/** A batch of lines whose answers are taken one after the other. */
export interface LinesBatch {
  /**
   * What became of each chunk, in their order. Throws as a single submission does and as reading the body does, once what is on its way has come to
   * its end, with the committed instances that were not {@link LinesBatch.told}.
   */
  readonly answers: AsyncIterable<ChunkAnswer>;
  /** Says that the client has been told of these results, so that nobody needs to remember them. */
  told(results: readonly BatchResult[]): void;
}

export interface LinesOptions {
  readonly fields: ReadonlySet<BatchInclude>;
  /** Largest line, bytes. */
  readonly lineMaxBytes: number;
}

/** Merges records as they arrive, one a line, and runs what is due: chunk by chunk, in memory that the chunks bound (C95). */
export const submitLines = (work: BatchWork, pieces: AsyncIterable<Buffer>, options: LinesOptions): LinesBatch => {
  const fates = newFates();
  return {
    answers: answerChunks(work, pieces, options, fates),
    told: (results) => {
      for (const { instance_id: id } of results) fates.committed.delete(id);
    },
  };
};

async function* answerChunks(
  work: BatchWork,
  pieces: AsyncIterable<Buffer>,
  { fields, lineMaxBytes }: LinesOptions,
  fates: Fates,
): AsyncGenerator<ChunkAnswer, void, undefined> {
  const { context, definition, origin } = work;
  const collections = await context.database.inWorkspace(origin.access, (transaction) =>
    loadContextCollections(transaction, definition),
  );
  const chunks = chunkLines(pieces, {
    chunkItems: context.chunkSize,
    chunkBytes: fixedLimits.chunkBytes,
    lineMaxBytes,
  });
  const worker = new ChunkWorker(work, fields, toCollections(collections), fates);
  try {
    yield* inOrder(chunks, (chunk) => worker.work(chunk), {
      maxItems: CHUNKS_AT_ONCE,
      maxWeight: CHUNKS_AT_ONCE * fixedLimits.chunkBytes,
      weightOf: ({ bytes }) => bytes,
    });
  } catch (error) {
    worker.stop();
    await worker.ended();
    throw error instanceof ServiceError ? withFates(error, fates) : error;
  }
}

interface UnderWay {
  readonly ids: ReadonlySet<string>;
  readonly done: Promise<unknown>;
}

const overlap = (some: ReadonlySet<string>, others: ReadonlySet<string>): boolean =>
  [...some].some((id) => others.has(id));

/** Works on several chunks at once, but on those that name the same instance one after the other. */
class ChunkWorker {
  private readonly underWay = new Set<UnderWay>();
  private isStopped = false;

  constructor(
    private readonly batch: BatchWork,
    private readonly fields: ReadonlySet<BatchInclude>,
    private readonly collections: ReturnType<typeof toCollections>,
    private readonly fates: Fates,
  ) {}

  /** Chunks must be given in their order: each waits for those before it that share an instance with it. */
  work({ firstPosition, lines }: LineChunk): Promise<ChunkAnswer> {
    const records = lines.map(readLine);
    const grouped = groupRecords(this.batch.definition.model, records, this.collections, firstPosition);
    const ids = new Set(grouped.instances.map(({ instanceId }) => instanceId));
    const earlier = [...this.underWay].filter((other) => overlap(other.ids, ids)).map(({ done }) => done);
    const answer = Promise.all(earlier).then(() => this.carryOut(grouped, records.length));
    const own = { ids, done: answer.catch(() => undefined) };
    this.underWay.add(own);
    void own.done.then(() => this.underWay.delete(own));
    return answer;
  }

  /** Begins nothing more. */
  stop(): void {
    this.isStopped = true;
  }

  /** Resolves when nothing is under way any more. */
  async ended(): Promise<void> {
    await Promise.all([...this.underWay].map(({ done }) => done));
  }

  private async carryOut(
    { instances, rejections }: ReturnType<typeof groupRecords>,
    records: number,
  ): Promise<ChunkAnswer> {
    const { context, definition, origin } = this.batch;
    const progress = new BatchProgress(this.fates);
    if (!this.isStopped && instances.length > 0) await carryOutChunk(this.batch, instances, progress);
    if (progress.failure !== undefined) {
      this.stop();
      throw progress.failure;
    }
    const outcomes = [...progress.outcomes.values()];
    const cascaded = await tellReaders(context, origin, definition, outcomes);
    return {
      accepted: records - rejections.length,
      executed: outcomes.reduce((sum, { settled }) => sum + settled.runs.filter(hasRun).length, 0),
      rejections,
      results: instances.flatMap(({ instanceId, positions }) => {
        const outcome = progress.outcomes.get(instanceId);
        return outcome === undefined ? [] : [toBatchResult(outcome, positions, this.fields)];
      }),
      cascaded,
      degraded: outcomes.find(({ settled }) => settled.degraded !== undefined)?.settled.degraded,
    };
  }
}
