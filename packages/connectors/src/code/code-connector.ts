import { availableParallelism } from 'node:os';
import { type CodeFault, type CodeJob } from '@decision/sandbox';
import { type Connector, type ConnectorCall, ConnectorFailure, type NodeOutputs } from '../connector';
import { revealed } from '../templates';
import { CodePool, type CodePoolFaults } from './code-pool';

interface CodeOptions {
  /** Processor time that code may take, ms. Default 1,000. */
  readonly maxRunMs?: number;
  /** Bytes of memory of one run. Default 32 MiB. */
  readonly memoryBytes?: number;
  /** Characters of the outputs as JSON. Default 4 MiB. */
  readonly maxOutputLength?: number;
  /** Threads at most. Default: one less than there are cores, at least 1, at most 4. */
  readonly threads?: number | undefined;
  /** Runs that may wait for a thread. Default 1,000. */
  readonly maxWaiting?: number;
}

/** Time for a run including its wait for a thread, ms; the deadline of the request may end it earlier. */
const TIME_MS = 3_600_000;
/** Default number of threads. */
const MOST_BY_DEFAULT = 4;
/** Nodes that run JavaScript, in separate threads, so that code never blocks the thread that handles messages. */
export const createCodeConnector = (options: CodeOptions = {}): Connector => {
  const { maxRunMs = 1_000, memoryBytes = 33_554_432, maxOutputLength = 4_194_304 } = options;
  const limits = { maxRunMs, memoryBytes, maxOutputLength };
  const pool = new CodePool({
    threads: options.threads ?? Math.min(MOST_BY_DEFAULT, Math.max(1, availableParallelism() - 1)),
    ...{ memoryBytes, maxRunMs, maxWaiting: options.maxWaiting ?? 1_000 },
    faults: faultsOfPool(maxRunMs),
  });
  return {
    type: 'code',
    timeoutMs: TIME_MS,
    run: async (call) => {
      const job = jobOf(call, limits);
      const { workspaceId: owner, requestId: run, signal } = call;
      const { outputs, fault } = await pool.run({ owner, run, job, signal });
      if (outputs === undefined) throw failureOf(fault, limits);
      return JSON.parse(outputs) as NodeOutputs; // the sandbox answers a JSON object
    },
    stop: () => pool.stop(),
  };
};

interface Limits {
  readonly maxRunMs: number;
  readonly memoryBytes: number;
  readonly maxOutputLength: number;
}

const jobOf = (call: ConnectorCall, { maxRunMs, memoryBytes, maxOutputLength }: Limits): CodeJob => {
  const inputs = JSON.stringify(revealed(call.inputs));
  const most = memoryBytes / 4;
  if (inputs.length > most)
    throw new ConnectorFailure(
      `The inputs of this code take ${inputs.length} characters as JSON; the limit is ${most}, a quarter of its memory; pass on less, or raise FLOW_CODE_MEMORY_BYTES.`,
      { outcome: 'refused', details: { limit: most } },
    );
  return {
    source: String(call.fields['code']),
    inputs,
    seed: Buffer.from(call.idempotencyKey, 'base64url').readInt32BE(),
    runMs: maxRunMs,
    deadline: call.deadline,
    maxOutputLength,
  };
};

const failureOf = (fault: CodeFault | undefined, limits: Limits): ConnectorFailure =>
  new ConnectorFailure(sentenceOf(fault, limits), {
    outcome: fault?.kind === 'time' ? 'timeout' : 'invalid',
    details: { fault: fault?.kind ?? 'unknown' },
  });

const sentenceOf = (fault: CodeFault | undefined, { maxRunMs, memoryBytes, maxOutputLength }: Limits): string => {
  switch (fault?.kind) {
    case 'time':
      return `This code ran longer than ${maxRunMs} ms of processor time, or ten times as long by the clock, which is the limit, and was ended; do less in it, or raise FLOW_CODE_TIMEOUT_MS.`;
    case 'memory':
      return `This code needed more than ${memoryBytes} bytes of memory, which is the limit; keep less at once, or raise FLOW_CODE_MEMORY_BYTES.`;
    case 'depth':
      return 'This code nests or recurses too deep; use a loop, or end the recursion.';
    case 'unsettled':
      return 'This code waits for a promise that nothing settles; it has no timers and no network to wait for.';
    case 'no_object':
      return 'The outputs of this code are not an object; set members of outputs, or return an object.';
    case 'size':
      return `The outputs of this code take ${fault.length} characters as JSON, and the limit is ${maxOutputLength}; answer less, or raise FLOW_CODE_MAX_OUTPUT_BYTES.`;
    case 'syntax':
    case 'thrown':
      return `This code failed${fault.line === 0 ? '' : ` in line ${fault.line}`}: ${fault.message}`;
    case undefined:
      return 'This code has no outputs.';
  }
};

const faultsOfPool = (maxRunMs: number): CodePoolFaults => ({
  tooMany: (limit) =>
    new ConnectorFailure(
      `${limit} runs of code wait for a thread already, which is the limit; send fewer requests at once, or raise FLOW_CODE_THREADS.`,
      { outcome: 'busy', details: { limit } },
    ),
  tooLong: () =>
    new ConnectorFailure(
      `This code ran longer than ${maxRunMs} ms of processor time, or ten times as long by the clock, which is the limit, and did not stop when asked to; its thread was terminated.`,
      { outcome: 'timeout' },
    ),
  ended: () => new ConnectorFailure('The thread that ran this code ended; the memory of the code may be too large.'),
  stopped: () => new ConnectorFailure('The service stops; another one may run this code.', { outcome: 'abandoned' }),
});
