import { type GivenInstance, groupRecords, hasRun, readInclude } from '@decision/contexts';
import { type BatchAnswer, type BatchInclude, batchIncludes, ServiceError } from '@decision/contracts';
import {
  BatchCascade,
  BatchProgress,
  type BatchWork,
  carryOutChunk,
  CHUNKS_AT_ONCE,
  chunksByKey,
  type InstancesContext,
  lookUpMembers,
  type OpenContext,
  rejectionRemarks,
  type RequestOrigin,
  withCommits,
} from '@decision/operations';
import { toBatchResult } from './answer-batch';

/** Field names in `include`. Throws `invalid_request` that lists the valid ones. */
export const readBatchInclude = (text: string | undefined): ReadonlySet<BatchInclude> => {
  const reading = readInclude(text);
  if (reading.ok) return reading.fields;
  const message = `knows no ${reading.unknown.map((name) => JSON.stringify(name.slice(0, 100))).join(', ')}; it may name: ${batchIncludes.join(', ')}`;
  throw new ServiceError('invalid_request', `The parameter "include" ${message}.`, {
    problems: [{ path: '/include', message }],
    valid: [...batchIncludes],
  });
};

/**
 * Merges records into their instances, runs due rules and flows, re-evaluates their readers, and answers the state of each instance. Throws as a
 * single submission does, with the instances committed by then (C96).
 */
export const submitBatch = async (
  context: InstancesContext,
  definition: OpenContext,
  origin: RequestOrigin,
  records: readonly unknown[],
  fields: ReadonlySet<BatchInclude>,
): Promise<BatchAnswer> => {
  const collections = await lookUpMembers(context.database, origin, definition, records);
  const { instances, rejections, rejected, ignored } = groupRecords(definition.model, records, collections);
  const work = { context, definition, origin };
  const batch = new Batch(work);
  const cascade = new BatchCascade(work);
  try {
    await batch.run(instances);
  } catch (error) {
    await cascade.runPart(batch.outcomes.values());
    throw error;
  }
  const ingestedAt = Date.now();
  await cascade.add(batch.outcomes.values());
  await cascade.run();
  const cascaded = cascade.cascaded();
  const outcomes = instances.flatMap((given) => {
    const outcome = batch.outcomes.get(given.instanceId);
    return outcome === undefined ? [] : [{ outcome, given }];
  });
  const degraded = outcomes.find(({ outcome }) => outcome.settled.degraded !== undefined)?.outcome.settled.degraded;
  return {
    context: definition.slug,
    accepted: records.length - rejected,
    rejected,
    executed: outcomes.reduce((sum, { outcome }) => sum + outcome.settled.runs.filter(hasRun).length, 0),
    ignored,
    rejections: [...rejections],
    ...(rejected > rejections.length ? { rejections_omitted: rejected - rejections.length } : {}),
    results: outcomes.map(({ outcome, given }) => toBatchResult(outcome, given, fields)),
    cascaded: [...cascaded],
    ...rejectionRemarks(cascaded),
    ...(degraded === undefined ? {} : { execution_degraded: degraded }),
    timings: { total_ms: Date.now() - origin.now, ingest_ms: ingestedAt - origin.now },
  };
};

class Batch {
  private readonly progress = new BatchProgress();

  constructor(private readonly work: BatchWork) {}

  get outcomes(): BatchProgress['outcomes'] {
    return this.progress.outcomes;
  }

  /** Processes chunks of instances, a few at once. Throws the first failure once all running work has ended. */
  async run(instances: readonly GivenInstance[]): Promise<void> {
    const { progress, work } = this;
    const chunks = chunksByKey(instances, work.context.chunkSize);
    let next = 0;
    const carryOut = async (): Promise<void> => {
      for (let chunk = chunks[next]; chunk !== undefined && progress.failure === undefined; chunk = chunks[next]) {
        next += 1;
        await carryOutChunk(work, chunk, progress);
      }
    };
    await Promise.all(Array.from({ length: CHUNKS_AT_ONCE }, carryOut));
    if (progress.failure !== undefined) throw withCommits(progress.failure, progress.commits);
  }
}
