import {
  errorCodes,
  limits,
  type MessageHeaders,
  type ProducerReport,
  ServiceError,
  type SolutionRequestEnvelope,
} from '@decision/contracts';
import { LATE, resultWithin } from '@decision/waiting';
import { cutToSize } from './cut-record';
import { type LoggingPolicy, type MaskValue, NOTHING_SHOWN, withPolicy } from './logging-policy';
import { charactersOf, type SolvedInput } from './solved-input';

/** Keeps what was decided. */
export interface DecisionLogWriter {
  /** Takes the decisions of one message over and returns at once; never throws. */
  write(envelope: SolutionRequestEnvelope, items: readonly SolvedInput[]): void;
  /**
   * The same; a promise where the decisions may only be answered once they are on record, or where that is not known yet. It rejects with
   * `decision_not_recorded` where they may not be answered.
   */
  readonly record?: ((envelope: SolutionRequestEnvelope, items: readonly SolvedInput[]) => Recorded) | undefined;
  /** Resolves when everything that was written before is kept, or is known to be lost; undefined where that is so already. Never rejects. */
  readonly settled?: (() => Promise<void> | undefined) | undefined;
}

/** Undefined where a decision may be answered at once. */
export type Recorded = Promise<void> | undefined;

/** Writes decisions before they are answered. See {@link DecisionLogWriter.record}. */
export const putOnRecord = (
  writer: DecisionLogWriter | undefined,
  envelope: SolutionRequestEnvelope,
  items: readonly SolvedInput[],
): Recorded => {
  if (writer?.record !== undefined) return writer.record(envelope, items);
  writer?.write(envelope, items);
  return undefined;
};

/** A writer that gathers. */
export interface DecisionLog extends DecisionLogWriter {
  /** Hands what is gathered to the producer now. */
  flush(): void;
  /** The same, and says that nothing more will come. */
  close(): void;
}

/** A record on its way to the topic of decisions. */
interface DecisionMessage {
  readonly topic: 'logs';
  /** The producer chooses. */
  readonly partition: undefined;
  readonly headers: MessageHeaders;
  readonly value: Buffer;
  /** Epoch ms after which it is given up. */
  readonly deadline: number;
}

type MaybePolicy = LoggingPolicy | undefined;
type PolicyOf = (decision: DecidedBy) => MaybePolicy | Promise<MaybePolicy>;

/** What a policy is found by. */
export interface DecidedBy {
  readonly workspaceId: string;
  readonly versionId: string;
  /** Slug of the context in an operation of which it ran; undefined elsewhere. */
  readonly context: string | undefined;
}

interface DecisionLogOptions {
  /** Name of this process, which no other has or will have. */
  readonly name: string;
  /** Its queue is the buffer: what does not fit is dropped. `settled` is called with the outcome of the message. */
  readonly producer: { submit(message: DecisionMessage, settled: (error?: ServiceError) => void): void };
  readonly log: { warn(facts: object, sentence: string): void };
  /** What of a decision may be logged; undefined where that is everything. Never rejects. Default: everything. */
  readonly policyOf?: PolicyOf | undefined;
  /** The mask of a workspace. Default: there is none, and masked values are left out. */
  readonly maskOf?: ((workspaceId: string) => MaskValue) | undefined;
  /** Bytes of the request, the response and the trace of one decision together; what exceeds them is left out. Default: those of a message. */
  readonly maxDecisionBytes?: number | undefined;
  /** Largest message on `logs`, bytes. Default: 64 MiB. */
  readonly maxMessageBytes?: number | undefined;
  /** Called with each wait for a record before an answer, and its time in ms. */
  readonly onWaited?: ((outcome: 'recorded' | 'not_recorded', ms: number) => void) | undefined;
  /** Called with decisions that were lost, and with those that are stored. */
  readonly onSettled: (outcome: 'stored' | 'dropped', decisions: number) => void;
  /** Epoch ms. */
  readonly now: () => number;
}

const MOST_BYTES = limits.logMessageBytes.defaultValue;

/** How long a record may wait for the broker, ms. */
const LIFE_MS = 60_000;
/** How often this process says how many messages it has numbered, ms. */
const REPORT_COUNTS_MS = 300_000;
/** One line for all drops of this time, ms. */
const REPORT_EVERY_MS = 10_000;

/**
 * How long decisions are gathered, ms: nobody waits for them, and each produce costs the broker and this process as much as many requests.
 * What is lost with a killed process grows by as much.
 */
const GATHER_MS = 25;
/** So many records, or characters of requests and responses, are not gathered further. */
const MOST_GATHERED = { records: 256, characters: 1 << 20 } as const;

/**
 * Writes decisions to the topic `logs`, after their answers, bounded by the queue of the producer. Messages are numbered as they are decided, for
 * each workspace, so that those that never arrive leave a gap.
 */
export const createDecisionLog = (options: DecisionLogOptions): DecisionLog => {
  const { name, producer, onSettled, now } = options;
  const reportDrops = createDropReport(options);
  // One number for each workspace that has decided something here.
  const counts = new Map<string, number>();
  const count = (workspaceId: string): number => {
    const sequence = counts.get(workspaceId) ?? 0;
    counts.set(workspaceId, sequence + 1);
    return sequence;
  };
  const submit = (headers: MessageHeaders, text: string, settled: (error?: ServiceError) => void): void =>
    producer.submit(
      { topic: 'logs', partition: undefined, headers, value: Buffer.from(text), deadline: now() + LIFE_MS },
      settled,
    );
  const send = async (
    envelope: SolutionRequestEnvelope,
    given: readonly SolvedInput[],
    sequence: number,
  ): Promise<ServiceError | undefined> => {
    const asked = options.policyOf?.(decidedBy(envelope));
    const policy = asked instanceof Promise ? await asked : asked;
    const mask = policy && options.maskOf?.(envelope.workspaceId);
    const items = policy === undefined ? given : given.map((item) => logged(item, policy, mask));
    const messageBytes = options.maxMessageBytes ?? MOST_BYTES;
    const bounds = { decisionBytes: options.maxDecisionBytes ?? messageBytes, messageBytes };
    return sendItems(envelope, cutToSize(items, bounds), sequence);
  };
  const sendItems = (
    envelope: SolutionRequestEnvelope,
    items: readonly SolvedInput[],
    sequence: number,
  ): Promise<ServiceError | undefined> =>
    new Promise((resolve) =>
      submit(headersOf(envelope), recordText(envelope, items, { name, sequence }), (error) => {
        onSettled(error === undefined ? 'stored' : 'dropped', items.length);
        if (error !== undefined) reportDrops(items.length, error.code);
        resolve(error);
      }),
    );
  const report = (ended: boolean): void => {
    if (counts.size === 0) return;
    const workspaces = [...counts].map(([workspace_id, next]) => ({ workspace_id, next }));
    const facts: ProducerReport = {
      v: 2,
      producer: name,
      reported_at: new Date(now()).toISOString(),
      ended,
      workspaces,
    };
    // The next one says it again.
    submit({ v: '2', form: 'report' }, JSON.stringify(facts), () => undefined);
  };
  let reporting: NodeJS.Timeout | undefined;
  let gathered: (() => Promise<unknown>)[] = [];
  let round = new SettledRound(undefined);
  let characters = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (gathered.length === 0) return;
    const [sends, sent] = [gathered, round];
    gathered = [];
    characters = 0;
    round = new SettledRound(sent);
    sent.endsWith(sends.map((one) => one()));
  };
  const take = (
    envelope: SolutionRequestEnvelope,
    items: readonly SolvedInput[],
    onSent: (error: ServiceError | undefined) => void = ignore,
  ): void => {
    const sequence = count(envelope.workspaceId);
    reporting ??= setInterval(() => report(false), REPORT_COUNTS_MS).unref();
    gathered.push(() => send(envelope, items, sequence).then(onSent));
    for (const item of items) characters += charactersOf(item);
    const isFull = gathered.length === MOST_GATHERED.records || characters >= MOST_GATHERED.characters;
    // Never at once: the answer is handed over first.
    if (isFull) setImmediate(flush);
    else timer ??= setTimeout(flush, GATHER_MS);
  };
  const answerable = async (
    asked: MaybePolicy | Promise<MaybePolicy>,
    sent: Promise<ServiceError | undefined>,
    deadline: number,
  ): Promise<void> => {
    if (!isRequired(await asked)) return;
    const beganAt = now();
    const error = await resultWithin(sent, Math.min(Math.max(0, deadline - beganAt), LIFE_MS));
    const outcome = error === undefined ? 'recorded' : 'not_recorded';
    options.onWaited?.(outcome, now() - beganAt);
    if (error !== undefined) throw notRecorded(error === LATE ? 'deadline_exceeded' : error.code);
  };
  return {
    write: (envelope, items) => {
      if (isLogged(envelope, items)) take(envelope, items);
    },
    record: (envelope, items) => {
      if (!isLogged(envelope, items)) return undefined;
      const asked = options.policyOf?.(decidedBy(envelope));
      if (!(asked instanceof Promise) && !isRequired(asked)) {
        take(envelope, items);
        return undefined;
      }
      const sent = new Promise<ServiceError | undefined>((resolve) => take(envelope, items, resolve));
      // Somebody waits: with those of the same turn, but no longer.
      setImmediate(flush);
      return answerable(asked, sent, envelope.deadline);
    },
    flush,
    settled: () => (gathered.length > 0 ? round.settled() : round.before()),
    close: () => {
      clearInterval(reporting);
      flush();
      report(true);
    },
  };
};

const ignore = (): void => undefined;

const isLogged = ({ origin }: SolutionRequestEnvelope, items: readonly SolvedInput[]): boolean =>
  origin !== undefined && items.length > 0;

const decidedBy = ({ workspaceId, versionId, origin }: SolutionRequestEnvelope): DecidedBy => ({
  ...{ workspaceId, versionId, context: origin?.context ?? undefined },
});

const isRequired = (policy: MaybePolicy): boolean => policy?.settings.delivery === 'required';

/** A writer for where nothing is logged: it refuses what may only be answered once it is on record. */
export const withoutDecisionLog = (policyOf: PolicyOf): Required<Pick<DecisionLogWriter, 'record'>> => {
  const refuse = (policy: MaybePolicy): void => {
    if (isRequired(policy)) throw notRecorded('decision_logs_are_off');
  };
  return {
    record: (envelope, items) => {
      if (!isLogged(envelope, items)) return undefined;
      const asked = policyOf(decidedBy(envelope));
      if (asked instanceof Promise || isRequired(asked)) return Promise.resolve(asked).then(refuse);
      return undefined;
    },
  };
};

const notRecorded = (reason: string): ServiceError =>
  new ServiceError(
    'decision_not_recorded',
    'The decision is answered only once it is on record, and it could not be put on record; send the request again.',
    { reason },
  );

/** A value that cannot be masked, since it nests too deep, is not shown; what became of the decision is. */
const logged = (item: SolvedInput, policy: LoggingPolicy, mask: MaskValue): SolvedInput => {
  try {
    return withPolicy(item, policy, mask);
  } catch {
    return withPolicy({ ...item, pathTrace: undefined }, NOTHING_SHOWN, undefined);
  }
};

/** Records that are handed over together. It is settled when they are, and all before them. */
class SettledRound {
  private isSettled = false;
  private readonly end: Promise<void>;
  private resolve: (() => void) | undefined;

  constructor(private previous: SettledRound | undefined) {
    this.end = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  endsWith(records: readonly Promise<unknown>[]): void {
    void Promise.all([this.before(), ...records]).then(() => {
      this.isSettled = true;
      // Else one that is held would hold all that have ever been before it.
      this.previous = undefined;
      this.resolve?.();
    });
  }

  /** Undefined where it is. */
  settled(): Promise<void> | undefined {
    return this.isSettled ? undefined : this.end;
  }

  /** The same of the round before. */
  before(): Promise<void> | undefined {
    const settled = this.previous?.settled();
    if (settled === undefined) this.previous = undefined;
    return settled;
  }
}

/** They say whether the inputs are those of a list, perhaps with others in other messages: a reader puts them together. */
const headersOf = ({ kind }: SolutionRequestEnvelope): MessageHeaders =>
  kind === 'solve-list' || kind === 'solve-lines' ? { v: '2', form: 'list' } : { v: '2' };

const createDropReport = ({ log, now }: DecisionLogOptions): ((decisions: number, reason: string) => void) => {
  let dropped = 0;
  let reportedAt = -Infinity;
  return (decisions, reason) => {
    dropped += decisions;
    if (now() - reportedAt < REPORT_EVERY_MS) return;
    log.warn({ dropped, reason }, 'Decision logs were dropped.');
    dropped = 0;
    reportedAt = now();
  };
};

/** The record as JSON text. Requests and responses are JSON already and are put in as they are. */
export const recordText = (
  envelope: SolutionRequestEnvelope,
  items: readonly SolvedInput[],
  { name, sequence }: { readonly name: string; readonly sequence: number },
): string => {
  const { origin, requester, correlationId, workspaceId, versionId, requestId, traceparent, receivedAt } = envelope;
  const facts = {
    v: 2,
    id: `${requester}:${correlationId}`,
    producer: name,
    sequence,
    kind: envelope.asset ?? 'rule',
    workspace_id: workspaceId,
    key_id: origin?.keyId ?? '',
    asset_id: origin?.assetId ?? null,
    slug: origin?.slug ?? '',
    selector: origin?.selector ?? '',
    version_id: versionId,
    context: origin?.context ?? null,
    flow: origin?.flow ?? null,
    request_id: requestId,
    trace_id: traceIdOf(traceparent),
    received_at: new Date(receivedAt).toISOString(),
  };
  const firstIndex = origin?.firstIndex ?? 0;
  const decisions = items.map((item, offset) => itemText(item, firstIndex + offset));
  return `${JSON.stringify(facts).slice(0, -1)},"items":[${decisions.join(',')}]}`;
};

/** Written by hand: most of what a worker does for an input of a large request is this. */
const itemText = (item: SolvedInput, index: number): string => {
  const { request, result, error, matched, durationUs, executionId, instance, pathTrace, standsFor = 1, isCut } = item;
  const status = error === undefined ? '200' : `${errorCodes[error.code].status},"code":"${error.code}"`;
  const ran = executionId === undefined ? '' : `"execution_id":"${executionId}",`;
  const named = instance === undefined ? ran : `${ran}"instance":${JSON.stringify(instance)},`;
  const path = `${pathTrace === undefined ? '' : `${pathTrace},`}${standsFor === 1 ? '' : `"stands_for":${standsFor},`}${isCut === true ? '"abbreviated":true,' : ''}`;
  return `{"index":${index},${named}"status":${status},"duration_us":${Math.round(durationUs)},"matched":[${matched.join(',')}],${path}"request":${request},"response":${result}}`;
};

const TRACE_ID = /^[0-9a-f]{2}-([0-9a-f]{32})-/;
const traceIdOf = (traceparent: string | undefined): string | null => TRACE_ID.exec(traceparent ?? '')?.[1] ?? null;
