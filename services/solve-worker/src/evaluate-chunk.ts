import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  chunkInputs,
  type ChunkKind,
  fixedLimits,
  ServiceError,
  type SolutionRequestEnvelope,
} from '@decision/contracts';
import { type CompiledRule } from '@decision/engine';
import { type SolvedInput } from '@decision/execution';
import { readInput, type SolveElsewhere, solveInput } from './evaluate';

/** Work in a row before heartbeats, fetches and other partitions get their turn, ms. An input is never interrupted; what is long is evaluated elsewhere. */
const SLICE_MS = 10;

export type ChunkEnvelope = Pick<SolutionRequestEnvelope, 'receivedAt' | 'explain' | 'audience' | 'deadline'> & {
  readonly kind: ChunkKind;
};

/**
 * Evaluates a rule with every input of a chunk, in slices between which the process does its other work. Each failure stands in its own
 * slot. Throws `deadline_exceeded` once nobody waits any more, and `result_too_large` as soon as the results cannot fit a message.
 */
export const evaluateChunk = async (
  rule: CompiledRule | undefined,
  payload: Buffer,
  envelope: ChunkEnvelope,
  elsewhere?: SolveElsewhere,
): Promise<readonly SolvedInput[]> => {
  const { deadline } = envelope;
  const solved: SolvedInput[] = [];
  let length = 0;
  let sliceBegan = performance.now();
  let beganAt = sliceBegan;
  for (const payloadOfOne of chunkInputs(payload)) {
    const solving = solveInput(rule, readInput(payloadOfOne, 'input'), envelope, elsewhere);
    const here = solving instanceof Promise ? await solving : solving;
    const endedAt = performance.now();
    const one = solving instanceof Promise ? here : { ...here, durationUs: (endedAt - beganAt) * 1_000 };
    solved.push(one);
    length += one.result.length + 2;
    if (length > fixedLimits.executionMessageBytes) throw resultTooLarge();
    beganAt = endedAt;
    if (endedAt - sliceBegan < SLICE_MS) continue;
    await nextTurn();
    if (Date.now() >= deadline) throw tooLate();
    beganAt = sliceBegan = performance.now();
  }
  return solved;
};

const resultTooLarge = (): ServiceError =>
  new ServiceError(
    'result_too_large',
    `The results of a chunk exceed ${fixedLimits.executionMessageBytes} bytes, the largest message on the topic of answers; send fewer inputs at once or ask for less explanation.`,
    { limit_bytes: fixedLimits.executionMessageBytes },
  );

const tooLate = (): ServiceError =>
  new ServiceError('deadline_exceeded', 'The deadline of the request passed while its inputs were evaluated.');
