import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  chunkInputs,
  type ChunkKind,
  fixedLimits,
  ServiceError,
  type SolutionRequestEnvelope,
} from '@decision/contracts';
import { type CompiledRule, evaluateMany } from '@decision/engine';
import { readInput, type SolvedInput, solvedInput } from './evaluate';

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
export const evaluateChunk = async (
  rule: CompiledRule,
  payload: Buffer,
  envelope: ChunkEnvelope,
): Promise<readonly SolvedInput[]> => {
  const solved: SolvedInput[] = [];
  let length = 0;
  let sliceBegan = performance.now();
  for (const inputs of batches(chunkInputs(payload), BATCH)) {
    for (const input of evaluateBatch(rule, inputs, envelope)) {
      solved.push(input);
      length += input.result.length + 2;
    }
    if (length > fixedLimits.executionMessageBytes) throw resultTooLarge();
    if (performance.now() - sliceBegan < SLICE_MS) continue;
    await nextTurn();
    if (Date.now() >= envelope.deadline) throw tooLate();
    sliceBegan = performance.now();
  }
  return solved;
};

const evaluateBatch = (
  rule: CompiledRule,
  payloads: readonly Buffer[],
  { receivedAt: now, explain }: ChunkEnvelope,
): readonly SolvedInput[] => {
  const beganAt = performance.now();
  const inputs = payloads.map((payload) => readInput(payload, 'input'));
  const values = inputs.flatMap((input) => (input instanceof ServiceError ? [] : [input]));
  const outcomes = evaluateMany(rule, values, { now, explain }).values();
  const durationUs = ((performance.now() - beganAt) * 1_000) / payloads.length;
  return payloads.map((payload, at) => {
    const input = inputs[at];
    const outcome = input instanceof ServiceError ? input : outcomes.next().value;
    if (outcome === undefined) throw new ServiceError('internal_error', 'An input of the chunk has no outcome.');
    return solvedInput(payload, outcome, durationUs);
  });
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
