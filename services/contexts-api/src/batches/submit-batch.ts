import { type GivenInstance, groupRecords, hasRun, readInclude } from '@decision/contexts';
import {
  type BatchAnswer,
  batchIncludes,
  type BatchInclude,
  type ContextCascadeSummary,
  ServiceError,
} from '@decision/contracts';
import { type ContextInUse } from '../definitions/context-directory';
import { withCommitted } from '../instances/instance-errors';
import { operate } from '../operations/operate';
import { loadContextCollections, toCollections } from '../operations/surroundings';
import { type InstanceOutcome, type RequestOrigin } from '../operations/work';
import { tellReaders } from '../readers/tell-readers';
import { type InstancesContext } from '../service-context';
import { isMergeOnly, mergeOnly } from './merge-only';
import { toBatchResult } from './batch-result';

/** Chunks that are on their way at once: while one is settled by workers, the next is merged. */
const CHUNKS_AT_ONCE = 3;

/** Names of fields that `include` asks for. Throws `invalid_request` that lists the valid ones. */
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
 * Merges records into their instances, runs what is due, tells their readers, and answers what became of each instance. Throws as a single submission
 * does, with what is committed by then (C96).
 */
export const submitBatch = async (
  context: InstancesContext,
  definition: ContextInUse,
  origin: RequestOrigin,
  records: readonly unknown[],
  fields: ReadonlySet<BatchInclude>,
): Promise<BatchAnswer> => {
  const collections = await context.database.inWorkspace(origin.access, (transaction) =>
    loadContextCollections(transaction, definition),
  );
  const { instances, rejections } = groupRecords(definition.model, records, toCollections(collections));
  const batch = new Batch(context, definition, origin);
  await batch.run(instances);
  const ingestedAt = Date.now();
  const cascaded = await batch.tellReaders(instances);
  const outcomes = instances.flatMap(({ instanceId, positions }) => {
    const outcome = batch.outcomes.get(instanceId);
    return outcome === undefined ? [] : [{ outcome, positions }];
  });
  const degraded = outcomes.find(({ outcome }) => outcome.settled.degraded !== undefined)?.outcome.settled.degraded;
  return {
    context: definition.slug,
    accepted: records.length - rejections.length,
    rejected: rejections.length,
    executed: outcomes.reduce((sum, { outcome }) => sum + outcome.settled.runs.filter(hasRun).length, 0),
    rejections: [...rejections],
    results: outcomes.map(({ outcome, positions }) => toBatchResult(outcome, positions, fields)),
    cascaded: [...cascaded],
    ...(degraded === undefined ? {} : { execution_degraded: degraded }),
    timings: { total_ms: Date.now() - origin.now, ingest_ms: ingestedAt - origin.now },
  };
};

class Batch {
  readonly outcomes = new Map<string, InstanceOutcome>();
  private readonly committed = new Set<string>();
  private failure: ServiceError | undefined;

  constructor(
    private readonly context: InstancesContext,
    private readonly definition: ContextInUse,
    private readonly origin: RequestOrigin,
  ) {}

  /** Works through chunks of instances, a few at once. Throws the first failure once what is on its way has come to its end. */
  async run(instances: readonly GivenInstance[]): Promise<void> {
    const { chunkSize } = this.context;
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < instances.length && this.failure === undefined) {
        const chunk = instances.slice(next, next + chunkSize);
        next += chunkSize;
        await this.carryOut(chunk).catch((error: unknown) => this.fail(error));
      }
    };
    await Promise.all(Array.from({ length: CHUNKS_AT_ONCE }, work));
    if (this.failure !== undefined) throw withCommitted(this.failure, this.committed);
  }

  /** Tells the readers of everything that the batch touched, chunk by chunk. */
  async tellReaders(instances: readonly GivenInstance[]): Promise<readonly ContextCascadeSummary[]> {
    const { chunkSize } = this.context;
    const summaries: ContextCascadeSummary[] = [];
    const outcomes = instances.flatMap(({ instanceId }) => this.outcomes.get(instanceId) ?? []);
    for (let from = 0; from < outcomes.length; from += chunkSize) {
      summaries.push(
        ...(await tellReaders(this.context, this.origin, this.definition, outcomes.slice(from, from + chunkSize))),
      );
    }
    return addUp(summaries);
  }

  private async carryOut(chunk: readonly GivenInstance[]): Promise<void> {
    if (Date.now() >= this.origin.deadline) {
      throw new ServiceError('deadline_exceeded', 'The deadline of the request passed before every record was merged.');
    }
    const merged = isMergeOnly(this.definition)
      ? await mergeOnly(this.context, this.definition, this.origin, chunk)
      : [];
    for (const outcome of merged) this.take(outcome);
    const open = chunk.filter(({ instanceId }) => !this.outcomes.has(instanceId));
    if (open.length === 0) return;
    const given = open.map(({ instanceId, facts }) => ({ instanceId, facts }));
    const { outcomes, failures, committed } = await operate(this.context.operate, {
      ...{ context: this.definition, origin: this.origin, given, mode: 'submit' },
    });
    for (const outcome of outcomes.values()) this.take(outcome);
    for (const id of committed) this.committed.add(id);
    for (const failure of failures.values()) this.failure ??= failure;
  }

  private take(outcome: InstanceOutcome): void {
    this.outcomes.set(outcome.instanceId, outcome);
    this.committed.add(outcome.instanceId);
  }

  private fail(error: unknown): void {
    this.failure ??=
      error instanceof ServiceError
        ? error
        : new ServiceError('internal_error', 'A chunk of the batch failed.', {}, { cause: error });
  }
}

/** Summaries of several chunks, one for each context and relation. */
const addUp = (summaries: readonly ContextCascadeSummary[]): ContextCascadeSummary[] => {
  const sums = new Map<string, ContextCascadeSummary>();
  for (const summary of summaries) {
    const key = `${summary.context} ${summary.relation}`;
    const sum = sums.get(key);
    if (sum === undefined) {
      sums.set(key, { ...summary });
      continue;
    }
    for (const count of COUNTS) sum[count] += summary[count];
    const failed = [...(sum.failed_instance_ids ?? []), ...(summary.failed_instance_ids ?? [])];
    if (failed.length > 0) sum.failed_instance_ids = failed;
    sum.error ??= summary.error;
    sum.execution_degraded ??= summary.execution_degraded;
  }
  return [...sums.values()];
};

const COUNTS = ['instances', 'executed', 'skipped', 'evaluation_errors', 'infrastructure_errors'] as const;
