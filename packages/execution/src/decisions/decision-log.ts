import {
  limits,
  type MessageHeaders,
  type ProducerReport,
  ServiceError,
  type SolutionRequestEnvelope,
} from '@decision/contracts';
import { LATE, resultWithin } from '@decision/waiting';
import { cutToSize } from './cut-record';
import { createRecordWriter } from './decision-record';
import { type LoggingPolicy, type MaskValue, NOTHING_SHOWN, withPolicy } from './logging-policy';
import { SettledRound } from './settled-round';
import { charactersOf, type SolvedInput } from './solved-input';

/** Writes decisions. */
export interface DecisionLogWriter {
  /** Takes over the decisions of one message and returns at once; never throws. */
  write(envelope: SolutionRequestEnvelope, items: readonly SolvedInput[]): void;
  /**
   * The same; a promise if the decisions may only be answered once they are on record, or if that is not known yet. It rejects with
   * `decision_not_recorded` if they must not be answered.
   */
  readonly record?: ((envelope: SolutionRequestEnvelope, items: readonly SolvedInput[]) => Recorded) | undefined;
  /** Resolves when everything written before is stored, or is known to be lost; undefined if that is already so. Never rejects. */
  readonly settled?: (() => Promise<void> | undefined) | undefined;
}

/** Undefined if a decision may be answered at once. */
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

/** A writer that batches. */
export interface DecisionLog extends DecisionLogWriter {
  /** Sends the batch to the producer now. */
  flush(): void;
  /** The same, and reports that no more will follow. */
  close(): void;
}

/** A record for the topic of decisions. */
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
type Asked = MaybePolicy | Promise<MaybePolicy>;
type PolicyOf = (decision: DecidedBy) => Asked;

/** Called when a record is stored, or with the reason why it never will be. */
type OnSent = (error: ServiceError | undefined) => void;

/** A record that waits to be sent. */
interface Gathered {
  readonly envelope: SolutionRequestEnvelope;
  readonly items: readonly SolvedInput[];
  /** The parts of it that may be logged. */
  readonly asked: Asked;
  readonly sequence: number;
  readonly onSent: OnSent | undefined;
}

/** Key of a policy. */
export interface DecidedBy {
  readonly workspaceId: string;
  readonly versionId: string;
  /** Slug of the context whose operation it ran in; undefined otherwise. */
  readonly context: string | undefined;
}

interface DecisionLogOptions {
  /** Globally unique name of this process. */
  readonly name: string;
  /** Its queue is the buffer: records that do not fit are dropped. `settled` is called with the outcome of the message. */
  readonly producer: { submit(message: DecisionMessage, settled: (error?: ServiceError) => void): void };
  readonly log: { warn(facts: object, sentence: string): void };
  /** The parts of a decision that may be logged; undefined: everything. Never rejects. Default: everything. */
  readonly policyOf?: PolicyOf | undefined;
  /** The mask of a workspace. Default: none, and masked values are left out. */
  readonly maskOf?: ((workspaceId: string) => MaskValue) | undefined;
  /** Bytes of the request, the response and the trace of one decision together; larger ones are cut. Default: those of a message. */
  readonly maxDecisionBytes?: number | undefined;
  /** Largest message on `logs`, bytes. Default: 64 MiB. */
  readonly maxMessageBytes?: number | undefined;
  /** Called with each wait for a record before an answer, and its time in ms. */
  readonly onWaited?: ((outcome: 'recorded' | 'not_recorded', ms: number) => void) | undefined;
  /** Called with lost decisions, and with stored ones. */
  readonly onSettled: (outcome: 'stored' | 'dropped', decisions: number) => void;
  /** Epoch ms. */
  readonly now: () => number;
}

const MOST_BYTES = limits.logMessageBytes.defaultValue;

/** How long a record may wait for the broker, ms. */
const LIFE_MS = 60_000;
/** Interval at which this process reports how many messages it has numbered, ms. */
const REPORT_COUNTS_MS = 300_000;
/** All drops within this time share a log line, ms. */
const REPORT_EVERY_MS = 10_000;

/**
 * How long decisions are batched, ms: nobody waits for them, and each produce request costs the broker and this process as much as many
 * requests. A killed process loses up to this time of decisions.
 */
const GATHER_MS = 25;
/** Records, or characters of requests and responses, that end a batch early. */
const MOST_GATHERED = { records: 256, characters: 1 << 20 } as const;

/**
 * Writes decisions to the topic `logs`, after their answers, bounded by the queue of the producer. Messages are numbered per workspace when
 * they are decided, so that lost ones leave a gap (docs/adr/0051-messages-of-producers-are-numbered.md).
 */
export const createDecisionLog = (options: DecisionLogOptions): DecisionLog => {
  const { name, producer, onSettled, now } = options;
  const reportDrops = createDropReport(options);
  // One counter per workspace with decisions here.
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
  const recordText = createRecordWriter(name);
  const messageBytes = options.maxMessageBytes ?? MOST_BYTES;
  const bounds = { decisionBytes: options.maxDecisionBytes ?? messageBytes, messageBytes };
  const send = (record: Gathered, policy: MaybePolicy, settled: () => void): void => {
    const { envelope, items: given, sequence, onSent } = record;
    const mask = policy && options.maskOf?.(envelope.workspaceId);
    const shown = policy === undefined ? given : given.map((item) => logged(item, policy, mask));
    const items = cutToSize(shown, bounds);
    submit(headersOf(envelope), recordText(envelope, items, sequence), (error) => {
      onSettled(error === undefined ? 'stored' : 'dropped', items.length);
      if (error !== undefined) reportDrops(items.length, error.code);
      onSent?.(error);
      settled();
    });
  };
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
    // The next report repeats it.
    submit({ v: '2', form: 'report' }, JSON.stringify(facts), () => undefined);
  };
  let reporting: NodeJS.Timeout | undefined;
  let gathered: Gathered[] = [];
  let round = new SettledRound(undefined);
  let characters = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (gathered.length === 0) return;
    const [records, sent] = [gathered, round];
    gathered = [];
    characters = 0;
    round = new SettledRound(sent);
    const settled = sent.endsAfter(records.length);
    for (const record of records) {
      const { asked } = record;
      if (asked instanceof Promise) void asked.then((policy) => send(record, policy, settled));
      else send(record, asked, settled);
    }
  };
  const take = (
    envelope: SolutionRequestEnvelope,
    items: readonly SolvedInput[],
    asked: Asked,
    onSent?: OnSent,
  ): void => {
    const sequence = count(envelope.workspaceId);
    reporting ??= setInterval(() => report(false), REPORT_COUNTS_MS).unref();
    gathered.push({ envelope, items, asked, sequence, onSent });
    for (const item of items) characters += charactersOf(item);
    const isFull = gathered.length === MOST_GATHERED.records || characters >= MOST_GATHERED.characters;
    // Never synchronously, so that the answer is sent first.
    if (isFull) setImmediate(flush);
    else timer ??= setTimeout(flush, GATHER_MS);
  };
  const ask = (envelope: SolutionRequestEnvelope): Asked => options.policyOf?.(decidedBy(envelope));
  const answerable = async (asked: Asked, sent: Promise<ServiceError | undefined>, deadline: number): Promise<void> => {
    if (!isRequired(await asked)) return;
    const beganAt = now();
    const error = await resultWithin(sent, Math.min(Math.max(0, deadline - beganAt), LIFE_MS));
    const outcome = error === undefined ? 'recorded' : 'not_recorded';
    options.onWaited?.(outcome, now() - beganAt);
    if (error !== undefined) throw notRecorded(error === LATE ? 'deadline_exceeded' : error.code);
  };
  return {
    write: (envelope, items) => {
      if (isLogged(envelope, items)) take(envelope, items, ask(envelope));
    },
    record: (envelope, items) => {
      if (!isLogged(envelope, items)) return undefined;
      const asked = ask(envelope);
      if (!(asked instanceof Promise) && !isRequired(asked)) {
        take(envelope, items, asked);
        return undefined;
      }
      const sent = new Promise<ServiceError | undefined>((resolve) => take(envelope, items, asked, resolve));
      // A request waits: batch only with records of the same turn.
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

const isLogged = ({ origin }: SolutionRequestEnvelope, items: readonly SolvedInput[]): boolean =>
  origin !== undefined && items.length > 0;

const decidedBy = ({ workspaceId, versionId, origin }: SolutionRequestEnvelope): DecidedBy => ({
  ...{ workspaceId, versionId, context: origin?.context ?? undefined },
});

const isRequired = (policy: MaybePolicy): boolean => policy?.settings.delivery === 'required';

/** A writer for deployments without logs: it refuses decisions that may only be answered once they are on record. */
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

/** A value that nests too deep to be masked is not shown; the outcome of the decision is. */
const logged = (item: SolvedInput, policy: LoggingPolicy, mask: MaskValue): SolvedInput => {
  try {
    return withPolicy(item, policy, mask);
  } catch {
    return withPolicy({ ...item, pathTrace: undefined }, NOTHING_SHOWN, undefined);
  }
};

/** They say whether the inputs are part of a list, perhaps with others in other messages, which a reader joins. */
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
