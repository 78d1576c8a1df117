import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ChunkKind, limits, ServiceError, type SolutionRequestEnvelope } from '@decision/contracts';
import { type CompiledRule, fieldsReadBy } from '@decision/engine';
import { type SolvedInput } from '@decision/execution';
import { optionsOf, readInputs, requireThread, solveHere, type SolveInThread } from './evaluate';

/**
 * Longest uninterrupted work before heartbeats, fetches and other partitions get their turn, ms (docs/adr/0011-evaluation-in-slices.md). An input
 * is never interrupted; a long evaluation runs in a thread.
 */
const SLICE_MS = 10;

export type ChunkEnvelope = Pick<SolutionRequestEnvelope, 'receivedAt' | 'explain' | 'audience' | 'deadline'> & {
  readonly kind: ChunkKind;
};

/**
 * Evaluates a rule with every input of a chunk, in slices between which the process does other work. Each failure goes into its own slot. Inputs
 * of a rule that is not compiled here go to a thread together; a long one goes alone. Throws `deadline_exceeded` once nobody waits any more, and
 * `result_too_large` as soon as the results cannot fit into a message.
 */
export const evaluateChunk = async (
  rule: CompiledRule | undefined,
  payload: Buffer,
  envelope: ChunkEnvelope,
  inThread?: SolveInThread,
  messageBytes: number = limits.executionMessageBytes.defaultValue,
): Promise<readonly SolvedInput[]> => {
  const { deadline, explain } = envelope;
  const fields = rule !== undefined && explain === 'none' ? fieldsReadBy(rule) : undefined;
  const options = optionsOf(envelope);
  const slots = new Slots(messageBytes);
  const forThread: InputForThread[] = [];
  let slot = 0;
  let sliceBegan = performance.now();
  let beganAt = sliceBegan;
  for (const read of readInputs(payload, fields)) {
    const here = solveHere(rule, read, options, inThread, beganAt);
    let endedAt: number;
    if (here === undefined) {
      forThread.push({ slot, request: read.request });
      if (rule !== undefined) await solveInThread(forThread.splice(0), slots, inThread);
      endedAt = performance.now();
    } else {
      slots.fill(slot, here);
      endedAt = beganAt + here.durationUs / 1_000;
    }
    slot += 1;
    beganAt = endedAt;
    if (endedAt - sliceBegan < SLICE_MS) continue;
    await nextTurn();
    if (Date.now() >= deadline) throw tooLate();
    beganAt = sliceBegan = performance.now();
  }
  await solveInThread(forThread, slots, inThread);
  return slots.solved;
};

/** Results of the inputs of a chunk, in their order. */
class Slots {
  readonly solved: SolvedInput[] = [];
  private length = 0;

  constructor(private readonly messageBytes: number) {}

  fill(slot: number, one: SolvedInput): void {
    this.solved[slot] = one;
    this.length += one.result.length + 2;
    if (this.length > this.messageBytes) throw resultTooLarge(this.messageBytes);
  }
}

interface InputForThread {
  readonly slot: number;
  readonly request: string;
}

/** Sends several inputs in one job; the thread answers those that it evaluates within a slice. The next job has at most twice as many. */
const solveInThread = async (
  inputs: readonly InputForThread[],
  slots: Slots,
  inThread: SolveInThread | undefined,
): Promise<void> => {
  let most = inputs.length;
  for (let at = 0; at < inputs.length;) {
    const asked = inputs.slice(at, at + most);
    const answers = await requireThread(inThread).first(asked.map(({ request }) => request));
    for (const [index, answer] of answers.entries()) slots.fill(asked[index]?.slot ?? 0, answer);
    at += answers.length;
    most = 2 * answers.length;
  }
};

export const resultTooLarge = (messageBytes: number): ServiceError =>
  new ServiceError(
    'result_too_large',
    `The results of a chunk exceed ${messageBytes} bytes, the largest message on the topic of answers; send fewer inputs at once or ask for less explanation.`,
    { limit_bytes: messageBytes },
  );

export const tooLate = (): ServiceError =>
  new ServiceError('deadline_exceeded', 'The deadline of the request passed while its inputs were evaluated.');
