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
import { BatchReaders } from './batch-readers';
import { toBatchResult } from './batch-result';
import { BatchProgress, type BatchWork, carryOutChunk, CHUNKS_AT_ONCE, type Fates, newFates } from './carry-out-chunk';
import { chunkLines, type LineChunk, readLine } from './record-lines';

/** Outcome of some records of a batch. */
export interface ChunkAnswer {
  readonly accepted: number;
  readonly executed: number;
  /** Facts that were not merged. */
  readonly ignored: number;
  readonly rejections: readonly Rejection[];
  /** One for each instance that the chunk names, in the order in which it does. */
  readonly results: readonly BatchResult[];
  readonly degraded: string | undefined;
}

/** A batch of lines whose answers are taken one after the other. */
export interface LinesBatch {
  /**
   * Outcome of each chunk, in their order. Throws as a single submission does and as reading the body does, once all work under way has ended, with
   * the committed instances that were not {@link LinesBatch.told}.
   */
  readonly answers: AsyncIterable<ChunkAnswer>;
  /** Outcome of the readers of all merged instances; complete when the answers have ended. */
  cascaded(): readonly ContextCascadeSummary[];
  /** Says that the client has been told of these results, so that nobody needs to remember them. */
  told(results: readonly BatchResult[]): void;
}

interface LinesOptions {
  readonly fields: ReadonlySet<BatchInclude>;
  /** Largest line, bytes. */
  readonly lineMaxBytes: number;
}

/** Merges records as they arrive, one a line, and runs what is due: chunk by chunk, in memory that the chunks bound (C95). */
export const submitLines = (work: BatchWork, pieces: AsyncIterable<Buffer>, options: LinesOptions): LinesBatch => {
  const fates = newFates();
  const readers = new BatchReaders(work);
  return {
    answers: answerChunks({ work, readers, fates }, pieces, options),
    cascaded: () => readers.cascaded(),
    told: (results) => {
      for (const { instance_id: id } of results) fates.committed.delete(id);
    },
  };
};

/** A batch of lines on its way. */
interface LinesUnderWay {
  readonly work: BatchWork;
  readonly readers: BatchReaders;
  readonly fates: Fates;
}

async function* answerChunks(
  batch: LinesUnderWay,
  pieces: AsyncIterable<Buffer>,
  { fields, lineMaxBytes }: LinesOptions,
): AsyncGenerator<ChunkAnswer, void, undefined> {
  const { readers, fates } = batch;
  const { context, definition, origin } = batch.work;
  const collections = await context.database.inWorkspace(origin.access, (transaction) =>
    loadContextCollections(transaction, definition),
  );
  const chunks = chunkLines(pieces, {
    chunkItems: context.chunkSize,
    chunkBytes: fixedLimits.chunkBytes,
    lineMaxBytes,
  });
  const worker = new ChunkWorker(batch, fields, toCollections(collections));
  let isWhole = false;
  try {
    yield* inOrder(chunks, (chunk) => worker.work(chunk), {
      maxItems: CHUNKS_AT_ONCE,
      maxWeight: CHUNKS_AT_ONCE * fixedLimits.chunkBytes,
      weightOf: ({ bytes }) => bytes,
    });
    isWhole = true;
  } catch (error) {
    worker.stop();
    await worker.ended();
    throw error instanceof ServiceError ? withFates(error, fates) : error;
  } finally {
    // Also where nobody takes the answers any more.
    worker.stop();
    await worker.ended();
    await (isWhole ? readers.tell() : readers.tellOfPart());
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
    private readonly batch: LinesUnderWay,
    private readonly fields: ReadonlySet<BatchInclude>,
    private readonly collections: ReturnType<typeof toCollections>,
  ) {}

  /** Chunks must be given in their order: each waits for those before it that share an instance with it. */
  work({ firstPosition, lines }: LineChunk): Promise<ChunkAnswer> {
    const records = lines.map(readLine);
    const grouped = groupRecords(this.batch.work.definition.model, records, this.collections, {
      firstPosition,
      // The chunk bounds them; the answer may be streamed, and then tells them all.
      rejectionBytes: Infinity,
    });
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
    { instances, rejections, ignored }: ReturnType<typeof groupRecords>,
    records: number,
  ): Promise<ChunkAnswer> {
    const { work, readers, fates } = this.batch;
    const progress = new BatchProgress(fates);
    if (!this.isStopped && instances.length > 0) await carryOutChunk(work, instances, progress);
    await readers.add(progress.outcomes.values());
    if (progress.failure !== undefined) {
      this.stop();
      throw progress.failure;
    }
    const outcomes = [...progress.outcomes.values()];
    return {
      accepted: records - rejections.length,
      executed: outcomes.reduce((sum, { settled }) => sum + settled.runs.filter(hasRun).length, 0),
      ignored,
      rejections,
      results: instances.flatMap((given) => {
        const outcome = progress.outcomes.get(given.instanceId);
        return outcome === undefined ? [] : [toBatchResult(outcome, given, this.fields)];
      }),
      degraded: outcomes.find(({ settled }) => settled.degraded !== undefined)?.settled.degraded,
    };
  }
}
