import {
  chunkInputs,
  type ChunkKind,
  limits,
  joinResults,
  ServiceError,
  type SolutionRequestEnvelope,
} from '@decision/contracts';
import {
  createTurns,
  type DecisionLogWriter,
  type FlowLibrary,
  type FlowRunner,
  type OpenedFlow,
  putOnRecord,
  type SolvedInput,
  solvedInput,
} from '@decision/execution';
import { type FlowFailure, type FlowNotification, type FlowOutcome } from '@decision/flows';
import { type ReadInput, readInput } from './evaluate';
import { resultTooLarge, tooLate } from './evaluate-chunk';

export interface FlowTools {
  /** Undefined: this worker cannot run flows. */
  readonly flows?: FlowPorts | undefined;
  /** Undefined if nothing is logged. */
  readonly decisions: DecisionLogWriter | undefined;
  /** Largest answer message, bytes. Default: 32 MiB. */
  readonly messageBytes?: number | undefined;
}

interface FlowPorts {
  readonly runner: Pick<FlowRunner, 'run' | 'open'>;
  readonly library: Pick<FlowLibrary, 'isSeenWhole'>;
  /** Stores the notifications of flows, all or none. Rejects if it is not known to have succeeded. */
  readonly notify: (workspaceId: string, notifications: readonly FlowNotification[]) => Promise<void>;
}

type FlowEnvelope = SolutionRequestEnvelope & { readonly kind: 'solve' | ChunkKind };

/** Inputs of one chunk that run at once if the flow calls other systems: they spend most of the time waiting. */
const WAITING_AT_ONCE = 8;

/**
 * Solves one input, or a chunk of them, with a flow, and logs each as one decision. `letNextBegin` is called when the flow waits for something
 * outside this thread. Throws `ServiceError` if there is no answer, or if the flow lets a failure fail the request.
 */
export const solveFlow = async (
  { flows, decisions, messageBytes }: FlowTools,
  envelope: FlowEnvelope,
  payload: Buffer,
  letNextBegin: () => void,
): Promise<Buffer> => {
  if (flows === undefined) throw new ServiceError('internal_error', 'Flows cannot be run here.');
  const { kind } = envelope;
  const solver = new FlowSolver(await flows.runner.open(envelope.workspaceId, envelope.versionId), {
    ...{ flows, envelope, letNextBegin, messageBytes },
    isLogged: decisions !== undefined && envelope.origin !== undefined,
  });
  if (kind === 'solve') {
    const { solved, refusal } = await solver.solveOne(payload);
    await putOnRecord(decisions, envelope, [solved]);
    if (refusal !== undefined) throw refusal;
    return Buffer.from(solved.result);
  }
  const solved = await solver.solveChunk(payload);
  await putOnRecord(decisions, envelope, solved);
  return joinResults(
    kind,
    solved.map(({ result }) => result),
  );
};

interface SolverOptions {
  readonly flows: FlowPorts;
  readonly envelope: FlowEnvelope;
  readonly letNextBegin: () => void;
  readonly isLogged: boolean;
  /** Largest answer message, bytes. */
  readonly messageBytes?: number | undefined;
}

interface Solved {
  readonly solved: SolvedInput;
  /** Set if the request must fail. */
  readonly refusal: ServiceError | undefined;
  /** Notifications to send, once they are stored. */
  readonly notifications: readonly FlowNotification[];
  /** The result of the same input if they could not be stored. */
  readonly unwritten: () => Promise<Solved>;
}

const NOTHING: readonly FlowNotification[] = [];

/** Solves the inputs of one message. */
class FlowSolver {
  private readonly isExplained: boolean;
  private seenWhole: Promise<boolean> | undefined;

  constructor(
    private readonly flow: OpenedFlow,
    private readonly options: SolverOptions,
  ) {
    this.isExplained = options.envelope.explain !== 'none';
  }

  async solveOne(payload: Buffer): Promise<Solved> {
    const solved = await this.solve(readInput(payload, 'body'), 0);
    const [stored = solved] = await this.store([solved]);
    return stored;
  }

  private async solve({ request, input }: ReadInput, offset: number): Promise<Solved> {
    const beganAt = performance.now();
    const durationUs = (): number => (performance.now() - beganAt) * 1_000;
    if (input instanceof ServiceError) return refusedInput(solvedInput(request, input, durationUs()), input);
    const { envelope, letNextBegin, isLogged } = this.options;
    const { workspaceId, versionId, deadline, requestId, receivedAt: now, origin } = envelope;
    const outcome = await this.flow.run(
      {
        ...{ workspaceId, versionId, deadline, requestId, keyId: origin?.keyId, now, input },
        ...{ idempotencyRoot: rootOf(envelope, offset), round: 0, trace: this.isExplained || isLogged },
      },
      letNextBegin,
    );
    return this.solvedBy(outcome, request, durationUs);
  }

  private async solvedBy(
    outcome: FlowOutcome,
    request: ReadInput['request'],
    durationUs: () => number,
  ): Promise<Solved> {
    const explanation = this.isExplained ? await this.explain(outcome) : undefined;
    const solved = solvedInput(request, outcome, durationUs(), explanation);
    const fails = !outcome.ok && this.flow.settings.failedResponseMode === 'fail';
    // An outcome that cannot be written is not a failure of the flow.
    const unreadable = outcome.ok ? solved.error : undefined;
    const { notifications = NOTHING } = outcome.ok && unreadable === undefined ? outcome : {};
    const unwritten = (): Promise<Solved> => this.solvedBy(notStored(outcome), request, durationUs);
    return { solved, refusal: fails ? refusalOf(outcome.error) : unreadable, notifications, unwritten };
  }

  /** Stores the notifications in one statement, and answers the results of the inputs: those whose notifications could not be stored have failed. */
  private async store(all: readonly Solved[]): Promise<readonly Solved[]> {
    const notifications = all.flatMap((one) => one.notifications);
    if (notifications.length === 0) return all;
    const { workspaceId, deadline } = this.options.envelope;
    // Nobody waits for the answer: no notification is sent that the client does not know of.
    if (Date.now() >= deadline) throw tooLate();
    try {
      await this.options.flows.notify(workspaceId, notifications);
      return all;
    } catch {
      return Promise.all(all.map(async (one) => (one.notifications.length === 0 ? one : one.unwritten())));
    }
  }

  /** Results in the order of the inputs. Throws as `evaluateChunk` does. */
  async solveChunk(payload: Buffer): Promise<readonly SolvedInput[]> {
    const { envelope, messageBytes = limits.executionMessageBytes.defaultValue } = this.options;
    const { deadline } = envelope;
    const turns = createTurns();
    const solved: Solved[] = [];
    const inputs = [...chunkInputs(payload)].entries();
    let length = 0;
    const work = async (): Promise<void> => {
      for (const [offset, bytes] of inputs) {
        if (!turns.mayGoOn()) await turns.pause();
        if (Date.now() >= deadline) throw tooLate();
        const one = await this.solve(readInput(bytes, 'input'), offset);
        solved[offset] = one;
        length += one.solved.result.length + 2;
        for (const { content } of one.notifications) length += content.length;
        if (length > messageBytes) throw resultTooLarge(messageBytes);
      }
    };
    await Promise.all(Array.from({ length: this.flow.reachesOut ? WAITING_AT_ONCE : 1 }, work));
    return (await this.store(solved)).map((one) => one.solved);
  }

  private async explain({ trace }: FlowOutcome): Promise<unknown> {
    if (trace === undefined) return { path: [] };
    const { entries, not_listed } = trace;
    if (await (this.seenWhole ??= this.seesAll())) return { path: entries, not_listed };
    return { path: entries.flatMap(withoutContent), not_listed };
  }

  /** Whether the reader of the explanation may see everything that the flow runs (V21). */
  private seesAll(): Promise<boolean> {
    const { flows, envelope } = this.options;
    const { audience, workspaceId, versionId } = envelope;
    if (audience === 'unrestricted') return Promise.resolve(true);
    return audience === undefined
      ? Promise.resolve(false)
      : flows.library.isSeenWhole(workspaceId, versionId, audience);
  }
}

/** An input that never reached the flow. */
const refusedInput = (solved: SolvedInput, refusal: ServiceError): Solved => {
  const one: Solved = { solved, refusal, notifications: NOTHING, unwritten: () => Promise.resolve(one) };
  return one;
};

/** The outcome of a run whose notifications could not be stored: a failed flow sends nothing, and this one has failed. */
const notStored = ({ trace, steps }: FlowOutcome): FlowOutcome => ({
  ok: false,
  error: {
    code: 'infrastructure_error',
    message:
      'The notifications of the flow could not be stored, since the database does not answer; send the request again.',
    ...{ path: [], indexes: [], details: { reason: 'notifications_not_stored' }, ofInput: false },
  },
  ...(trace === undefined ? {} : { trace }),
  steps,
});

type TraceEntry = NonNullable<FlowOutcome['trace']>['entries'][number];

/** Status of the flow's own nodes, without the data that went through them. */
const withoutContent = ({ ref, within, indexes, status, reason, duration_ms }: TraceEntry): readonly object[] =>
  within === undefined ? [{ ref, indexes, status, reason, duration_ms }] : [];

/** Names the run of one input: the same when the client repeats its request with the same key, or the message is redelivered. */
const rootOf = ({ workspaceId, versionId, idempotencyKey, requestId, origin }: FlowEnvelope, offset: number): string =>
  JSON.stringify([
    workspaceId,
    origin?.slug ?? versionId,
    idempotencyKey === undefined ? 'request' : 'key',
    idempotencyKey ?? requestId,
    (origin?.firstIndex ?? 0) + offset,
  ]);

const refusalOf = ({ code, message, path, indexes, details, ofInput }: FlowFailure): ServiceError => {
  const where = { ...details, path, indexes };
  if (ofInput) return new ServiceError('flow_input_refused', message, where);
  return new ServiceError(code === 'infrastructure_error' ? code : 'flow_failed', message, where);
};
