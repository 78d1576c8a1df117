import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  chunkInputs,
  type ChunkKind,
  failedResult,
  fixedLimits,
  joinResults,
  ServiceError,
  type SolutionRequestEnvelope,
} from '@decision/contracts';
import { type CompiledRule, evaluateMany, type RuleOutcome } from '@decision/engine';
import { answerText, readInput } from './evaluate';

/** Inputs between two looks at the clock. */
const BATCH = 32;
/** Work in a row before heartbeats, fetches and other partitions get their turn, ms. */
const SLICE_MS = 10;

export type ChunkEnvelope = Pick<SolutionRequestEnvelope, 'receivedAt' | 'explain' | 'deadline'> & {
  readonly kind: ChunkKind;
};

/**
 * Evaluates a rule with every input of a chunk, in slices between which the process does its other work. Each failure stands in its own
 * slot. Throws `deadline_exceeded` once nobody waits any more, and `result_too_large` as soon as the results cannot fit a message.
 */
export const evaluateChunk = async (rule: CompiledRule, payload: Buffer, envelope: ChunkEnvelope): Promise<Buffer> => {
  const results: string[] = [];
  let length = 0;
  let sliceBegan = performance.now();
  for (const inputs of batches(chunkInputs(payload), BATCH)) {
    for (const result of evaluateBatch(rule, inputs, envelope)) {
      results.push(result);
      length += result.length + 2;
    }
    if (length > fixedLimits.executionMessageBytes) throw resultTooLarge();
    if (performance.now() - sliceBegan < SLICE_MS) continue;
    await nextTurn();
    if (Date.now() >= envelope.deadline) throw tooLate();
    sliceBegan = performance.now();
  }
  return joinResults(envelope.kind, results);
};

const evaluateBatch = (rule: CompiledRule, inputs: readonly Buffer[], envelope: ChunkEnvelope): readonly string[] => {
  const { receivedAt: now, explain } = envelope;
  const read = inputs.map(readOne);
  const values = read.flatMap((input) => (input instanceof ServiceError ? [] : [input]));
  const outcomes = evaluateMany(rule, values, { now, explain }).values();
  return read.map((input) => (input instanceof ServiceError ? failedResult(input) : resultOf(outcomes.next().value)));
};

const readOne = (bytes: Buffer): Readonly<Record<string, unknown>> | ServiceError => {
  try {
    return readInput(bytes, 'input');
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
};

const resultOf = (outcome: RuleOutcome | undefined): string => {
  if (outcome === undefined) throw new ServiceError('internal_error', 'An input of the chunk has no outcome.');
  if (!outcome.ok) return failedResult(outcome.error);
  try {
    return answerText(outcome);
  } catch (error) {
    if (error instanceof ServiceError) return failedResult(error);
    throw error;
  }
};

function* batches<T>(items: Iterable<T>, size: number): Generator<readonly T[]> {
  let batch: T[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

const resultTooLarge = (): ServiceError =>
  new ServiceError(
    'result_too_large',
    `The results of a chunk exceed ${fixedLimits.executionMessageBytes} bytes, the largest message on the topic of answers; send fewer inputs at once or ask for less explanation.`,
    { limit_bytes: fixedLimits.executionMessageBytes },
  );

const tooLate = (): ServiceError =>
  new ServiceError('deadline_exceeded', 'The deadline of the request passed while its inputs were evaluated.');
