import { type CallOutside, type FlowRun, type KeepOutputs, type OutsideCall, type Secret } from '@decision/flows';
import { backOffMs, createSlots, pause, type Slots } from '@decision/waiting';
import { type CallOutcome, type Connector, type ConnectorCall, ConnectorFailure, type NodeOutputs } from './connector';
import { Circuits, type Verdict } from './core/circuits';
import { idempotencyKeyOf } from './core/identity';
import { type Redactor, redactorOf, secretsIn } from './core/redaction';
import { resultEntryOf, type ResultStore } from './core/result-cache';

/** A call that ended, for metrics. */
export interface CallEnd {
  readonly kind: string;
  readonly outcome: CallOutcome;
  readonly durationMs: number;
}

interface ConnectorsOptions {
  readonly connectors: readonly Connector[];
  /** Store of the results of nodes with `useCache`. Without it, or while it does not answer, every node runs. */
  readonly cache?: ResultStore | undefined;
  /** Calls with a target that may run at once in this process. Default 256. */
  readonly maxCalls?: number;
  /** Calls that may run at once to one target. Default 32. */
  readonly maxCallsPerTarget?: number;
  /** Calls that may wait; more are refused. Default 10,000. */
  readonly maxWaiting?: number;
  /** Consecutive failed calls before a target's circuit opens. Default 5. */
  readonly circuitFailures?: number;
  /** How long the circuit stays open, ms. Default 10,000. */
  readonly circuitOpenMs?: number;
  readonly onCallEnd?: (end: CallEnd) => void;
  /** Called with faults of a connector itself, which callers see as one general sentence. The text contains no secret. */
  readonly onFault?: (fault: { readonly type: string; readonly stack: string }) => void;
  /** In [0, 1): spreads the pauses between attempts. Default `Math.random`. */
  readonly random?: () => number;
}

interface ConnectorsStatus {
  readonly running: number;
  readonly waiting: number;
  readonly openCircuits: number;
}

/** Runs the nodes of flows that reach out. */
export interface Connectors {
  /** The port of one run. Its calls answer JSON, and reject with a {@link ConnectorFailure} that shows no secret. */
  callFor(run: FlowRun): CallOutside;
  /** Finds the cached outputs of subflows that one run may read and write. */
  keepFor(run: FlowRun): KeepOutputs;
  status(): ConnectorsStatus;
  /** Aborts the calls that still run, refuses new ones, and closes what connectors hold open. */
  stop(): Promise<void>;
}

/** Targets whose circuits are remembered. */
const MAX_TARGETS = 1_000;
const RETRY_PAUSES = { initialMs: 100, maxMs: 5_000 } as const;
/** Longest delay of a timer that the runtime keeps. */
const MAX_TIMER_MS = 2_147_483_647;

/** Adds to each kind of node what all have in common: deadlines, attempts, circuits, concurrency limits, cached results, redaction. */
export const createConnectors = (options: ConnectorsOptions): Connectors => new BoundConnectors(options);

/** A call in progress. */
interface Asked {
  readonly run: FlowRun;
  readonly call: OutsideCall;
  readonly secrets: readonly Secret[];
  readonly redactor: Redactor;
}

class BoundConnectors implements Connectors {
  private readonly byType: ReadonlyMap<string, Connector>;
  private readonly slots: Slots;
  private readonly circuits: Circuits;
  private readonly stopping = new AbortController();
  private readonly running = new Set<AbortController>();

  constructor(private readonly options: ConnectorsOptions) {
    const { connectors, maxCalls = 256, maxCallsPerTarget = 32, maxWaiting = 10_000 } = options;
    const { circuitFailures = 5, circuitOpenMs = 10_000 } = options;
    this.byType = new Map(connectors.map((connector) => [connector.type, connector]));
    this.slots = createSlots({
      ...{ running: maxCalls, runningPerKey: maxCallsPerTarget, waiting: maxWaiting },
      refusal: (target) => tooManyWaiting(target, maxWaiting),
    });
    this.circuits = new Circuits({
      failures: circuitFailures,
      openMs: circuitOpenMs,
      maxTargets: MAX_TARGETS,
      clock: () => performance.now(),
    });
  }

  callFor(run: FlowRun): CallOutside {
    return (call) => this.answer(run, call);
  }

  keepFor({ workspaceId }: FlowRun): KeepOutputs {
    const { cache } = this.options;
    return (call) => {
      const entry = cache && resultEntryOf(cache, workspaceId, call);
      return (
        entry && {
          read: () => entry.read(),
          write: (outputs) => {
            entry.write(outputs).catch(() => undefined); // the next run has none
          },
        }
      );
    };
  }

  status(): ConnectorsStatus {
    return { running: this.slots.running, waiting: this.slots.waiting, openCircuits: this.circuits.open };
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    for (const ending of this.running) ending.abort(stopped());
    await Promise.all([...this.byType.values()].map((connector) => connector.stop?.() ?? Promise.resolve()));
  }

  private async answer(run: FlowRun, call: OutsideCall): Promise<NodeOutputs> {
    const began = performance.now();
    const secrets = [...secretsIn(call.inputs)];
    const redactor = redactorOf(secrets);
    let outcome: CallOutcome = 'ok';
    try {
      const { outputs, isCached } = await this.ask({ run, call, secrets, redactor });
      if (isCached) {
        outcome = 'cached';
        call.onCached?.();
      }
      return outputs;
    } catch (error) {
      const failure = this.failureOf(error, call.node.type, redactor);
      outcome = failure.outcome;
      throw failure;
    } finally {
      this.options.onCallEnd?.({ kind: call.node.type, outcome, durationMs: performance.now() - began });
    }
  }

  private failureOf(error: unknown, type: string, { text }: Redactor): ConnectorFailure {
    if (error instanceof ConnectorFailure) return error.reworded(text(error.message));
    this.options.onFault?.({
      type,
      stack: text(error instanceof Error ? (error.stack ?? error.message) : String(error)),
    });
    return new ConnectorFailure(`This node, of type ${type}, failed by a fault of the service; the log has its cause.`);
  }

  private async ask(asked: Asked): Promise<{ readonly outputs: NodeOutputs; readonly isCached: boolean }> {
    const { run, call, redactor } = asked;
    const connector = this.connectorOf(call.node.type);
    const entry = this.options.cache && resultEntryOf(this.options.cache, run.workspaceId, call);
    const kept = await entry?.read();
    if (kept !== undefined) return { outputs: kept, isCached: true };
    const outputs = redactor.value(await this.withinTime(connector, asked)) as NodeOutputs; // an object stays one
    await entry?.write(outputs);
    return { outputs, isCached: false };
  }

  private connectorOf(type: string): Connector {
    const connector = this.byType.get(type);
    if (connector !== undefined) return connector;
    throw new ConnectorFailure(
      `Nodes of type ${type} cannot run here; use another type, or run the flow where they can.`,
      { outcome: 'not_available' },
    );
  }

  /** Works until its deadline, and does not wait longer even if the work ignores the abort. */
  private async withinTime(connector: Connector, asked: Asked): Promise<NodeOutputs> {
    const { run, call } = asked;
    if (this.stopping.signal.aborted) throw stopped();
    const own = call.node.fields['timeoutMs'];
    const nodeMs = typeof own === 'number' ? Math.min(own, connector.timeoutMs) : connector.timeoutMs;
    const leftMs = run.deadline - Date.now();
    const isWhole = nodeMs <= leftMs;
    const ms = Math.min(nodeMs, leftMs);
    if (ms <= 0) throw late(0, false);
    const ending = new AbortController();
    const giveUp = (): void => ending.abort(ABANDONED);
    const timer = setTimeout(() => setImmediate(() => ending.abort(late(ms, isWhole))), Math.min(ms, MAX_TIMER_MS));
    call.signal.addEventListener('abort', giveUp);
    if (call.signal.aborted) giveUp();
    this.running.add(ending);
    try {
      const one = connectorCall(asked, { deadline: Date.now() + ms, signal: ending.signal });
      return await untilAborted(this.attempts(connector, one), ending.signal);
    } finally {
      clearTimeout(timer);
      call.signal.removeEventListener('abort', giveUp);
      this.running.delete(ending);
      // Open work is no longer needed.
      ending.abort(ABANDONED);
    }
  }

  /** The attempts at a call, within its slot, as long as the circuit of its target admits it. */
  private async attempts(connector: Connector, call: ConnectorCall): Promise<NodeOutputs> {
    const target = connector.targetOf?.(call);
    if (target === undefined) return this.repeat(connector, call);
    const key = `${call.workspaceId} ${connector.type} ${target}`;
    const leave = await this.slots.take({ key, name: target, signal: call.signal });
    try {
      const settle = this.circuits.enter(key, target);
      let verdict: Verdict = 'unknown';
      try {
        const outputs = await untilAborted(this.repeat(connector, call), call.signal);
        verdict = 'answers';
        return outputs;
      } catch (error) {
        verdict = verdictOf(error);
        throw error;
      } finally {
        settle(verdict);
      }
    } finally {
      leave();
    }
  }

  private async repeat(connector: Connector, call: ConnectorCall): Promise<NodeOutputs> {
    const { retries } = call.fields;
    const attempts = typeof retries === 'number' && connector.isRepeatable?.(call) === true ? retries + 1 : 1;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await connector.run(attempt === 1 ? call : { ...call, attempt });
      } catch (error) {
        if (!(error instanceof ConnectorFailure) || !error.mayRetry || attempt >= attempts) throw error;
        const pauseMs = Math.max(
          backOffMs(attempt, RETRY_PAUSES, this.options.random?.() ?? Math.random()),
          error.retryAfterMs ?? 0,
        );
        if (Date.now() + pauseMs >= call.deadline) throw error;
        await pause(pauseMs, call.signal);
        if (call.signal.aborted) throw error;
      }
    }
  }
}

const connectorCall = (
  { run, call, secrets }: Asked,
  time: Pick<ConnectorCall, 'deadline' | 'signal'>,
): ConnectorCall => ({
  ...time,
  type: call.node.type,
  path: call.path,
  indexes: call.indexes,
  fields: call.node.fields,
  inputs: call.inputs,
  secrets,
  workspaceId: run.workspaceId,
  requestId: run.requestId,
  keyId: run.keyId,
  within: run.within ?? [],
  attempt: 1,
  notify: call.onNotifications,
  // Most kinds do not read it, and computing it hashes the inputs.
  get idempotencyKey() {
    return idempotencyKeyOf(run, call);
  },
});

/** The result of the work, or the signal's reason as soon as it aborts; later results of the work are ignored. */
const untilAborted = async <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason as Error); // only aborted with the errors below
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
};

const tooManyWaiting = (target: string, maxWaiting: number): ConnectorFailure =>
  new ConnectorFailure(
    `${target} is not asked: ${maxWaiting} calls wait for a place already; send fewer requests at once, or raise FLOW_MAX_CALLS and FLOW_MAX_CALLS_PER_TARGET.`,
    { outcome: 'busy' },
  );

/** A failure of the call itself, such as a 404, still shows that the target answers. */
const verdictOf = (error: unknown): Verdict => {
  if (!(error instanceof ConnectorFailure)) return 'unknown';
  if (error.blamesTarget) return 'fails';
  return error.outcome === 'failed' ? 'answers' : 'unknown';
};

/** `isWhole`: the node had its own time in full, so the target is to blame. */
const late = (ms: number, isWhole: boolean): ConnectorFailure =>
  new ConnectorFailure(
    isWhole
      ? `It had no answer within its ${Math.round(ms)} ms; raise timeoutMs as far as the limit of its type allows, or ask for less.`
      : `The time of the request was over before it had an answer; give the request more time, or the nodes before it less to do.`,
    { outcome: 'timeout', blamesTarget: isWhole },
  );

/** One shared error: every call aborts its remaining work with it, and creating an error is slow. */
const ABANDONED = new ConnectorFailure('The flow no longer needs its answer.', { outcome: 'abandoned' });

const stopped = (): ConnectorFailure =>
  new ConnectorFailure('The service is stopping; send the request again.', { outcome: 'abandoned' });
