import { type GivenInstance, groupRecords, readInclude } from '@decision/contexts';
import {
  type BatchAnswer,
  type BatchInclude,
  batchIncludes,
  type BatchResult,
  ServiceError,
} from '@decision/contracts';
import {
  type BatchWork,
  CHUNKS_AT_ONCE,
  chunksByKey,
  lookUpMembers,
  rejectionRemarks,
  withCommits,
} from '@decision/operations';
import { BatchUnderWay, type CarriedOut } from './batch-under-way';

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
  work: BatchWork,
  records: readonly unknown[],
  fields: ReadonlySet<BatchInclude>,
): Promise<BatchAnswer> => {
  const { context, definition, origin } = work;
  const collections = await lookUpMembers(context.database, origin, definition, records);
  const { instances, rejections, rejected, ignored } = groupRecords(definition.model, records, collections);
  const batch = new BatchUnderWay(work, fields);
  const { cascade } = batch;
  const { results, executed, degraded } = await carryOutAll(batch, chunksByKey(instances, context.chunkSize)).catch(
    async (error: unknown) => {
      await cascade.runPart();
      throw error;
    },
  );
  const ingestedAt = Date.now();
  await cascade.run();
  const cascaded = cascade.cascaded();
  return {
    context: definition.slug,
    accepted: records.length - rejected,
    ...{ rejected, executed, ignored },
    rejections: [...rejections],
    ...(rejected > rejections.length ? { rejections_omitted: rejected - rejections.length } : {}),
    results: instances.flatMap(({ instanceId }) => results.get(instanceId) ?? []),
    cascaded: [...cascaded],
    ...rejectionRemarks(cascaded),
    ...(degraded === undefined ? {} : { execution_degraded: degraded }),
    timings: { total_ms: Date.now() - origin.now, ingest_ms: ingestedAt - origin.now },
  };
};

/** Carries out chunks, a few at once. Throws the first failure once all running work has ended. */
const carryOutAll = async (
  batch: BatchUnderWay,
  chunks: readonly (readonly GivenInstance[])[],
): Promise<Omit<CarriedOut, 'failure'>> => {
  const results = new Map<string, BatchResult>();
  let executed = 0;
  let degraded: string | undefined;
  let failure: ServiceError | undefined;
  const queue = chunks.values();
  const work = async (): Promise<void> => {
    for (const chunk of queue) {
      const done = await batch.carryOut(chunk);
      for (const [id, result] of done.results) results.set(id, result);
      executed += done.executed;
      degraded ??= done.degraded;
      failure ??= done.failure;
      if (failure !== undefined) return;
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: CHUNKS_AT_ONCE }, work));
  if (failure !== undefined) throw withCommits(failure, batch.commits);
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
  return { results, executed, degraded };
};
