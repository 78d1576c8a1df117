import { setTimeout as pause } from 'node:timers/promises';
import { type Facts, type Operation } from './history';
import { outcomeInBatch, outcomeOfRead, outcomeOfSubmission, stateSentIn } from './read-answer';
import { type SeededRandom } from './seeded-random';
import { callJson, type ServiceAnswer } from './service-call';
import { CONTEXT_SLUG, FACTS, SENDER_SLUG } from './watched-context';

/** State shared by clients. */
export interface ClientContext {
  readonly apiKey: string;
  /** Base URLs of the processes; a client calls any of them. */
  readonly urls: readonly [string, ...string[]];
  readonly instanceIds: readonly [string, ...string[]];
  /** A number that no other call returns. */
  readonly nextValue: () => number;
  /** ms, from one clock for all clients. */
  readonly now: () => number;
  readonly record: (instanceId: string, operation: Operation) => void;
}

/** Most records of a batch. */
const MOST_RECORDS = 4;
/** Thresholds for choosing a client's operation: below each of these, else a batch. */
const SUBMITS = 0.4;
const READS = SUBMITS + 0.2;
const SENDS = READS + 0.2;
const SENDERS = 4;
/** How long a client rests after it could not connect, ms. */
const REST_MS = 200;

/** One client: runs randomly chosen operations one after the other until stopped. */
export const runClient = async (
  context: ClientContext,
  { name, random, isOver }: { readonly name: string; readonly random: SeededRandom; readonly isOver: () => boolean },
): Promise<void> => {
  for (let count = 1; !isOver(); count += 1) {
    const turn = { context, random, name: `${name}.${count}` };
    const draw = random.next();
    const answer = await operationOf(draw)(turn);
    if (answer === undefined || answer.status === 0 || answer.status === 503) await pause(REST_MS);
  }
};

const operationOf = (draw: number): typeof read =>
  draw < SUBMITS ? submit : draw < READS ? read : draw < SENDS ? send : submitBatch;

interface Turn {
  readonly context: ClientContext;
  readonly random: SeededRandom;
  readonly name: string;
}

const submit = async ({ context, random, name }: Turn): Promise<ServiceAnswer | undefined> => {
  const instanceId = random.pick(context.instanceIds);
  return submitTo(context, random.pick(context.urls), { instanceId, name, writes: drawFacts(context, random) });
};

/** Facts for one instance. */
interface Submission {
  readonly instanceId: string;
  readonly writes: Facts;
}

/** Submits facts to one instance, and records the outcome. */
export const submitTo = async (
  context: ClientContext,
  url: string,
  { instanceId, name, writes }: Submission & { readonly name: string },
): Promise<ServiceAnswer | undefined> => {
  const begunAt = context.now();
  const answer = await callJson(`${url}/api/v1/contexts/${CONTEXT_SLUG}/${instanceId}`, {
    ...{ method: 'POST', apiKey: context.apiKey, body: writes },
  });
  const outcome = outcomeOfSubmission(answer, instanceId);
  context.record(instanceId, { name: `submit ${name}`, begunAt, endedAt: context.now(), writes, outcome });
  return answer;
};

const read = ({ context, random, name }: Turn): Promise<ServiceAnswer | undefined> =>
  readFrom(context, random.pick(context.urls), { instanceId: random.pick(context.instanceIds), name });

/** Reads one instance, and records its state. */
export const readFrom = async (
  context: ClientContext,
  url: string,
  { instanceId, name }: { readonly instanceId: string; readonly name: string },
): Promise<ServiceAnswer | undefined> => {
  const begunAt = context.now();
  const answer = await callJson(`${url}/api/v1/contexts/${CONTEXT_SLUG}/${instanceId}`, {
    ...{ method: 'GET', apiKey: context.apiKey },
  });
  const outcome = outcomeOfRead(answer);
  context.record(instanceId, { name: `read ${name}`, begunAt, endedAt: context.now(), writes: undefined, outcome });
  return answer;
};

const send = ({ context, random, name }: Turn): Promise<ServiceAnswer | undefined> => {
  const sender = `${context.instanceIds[0]}-sender-${random.below(SENDERS)}`;
  const submission = { instanceId: random.pick(context.instanceIds), writes: drawFacts(context, random) };
  return sendTo(context, random.pick(context.urls), { ...submission, name, sender });
};

/**
 * Lets the flow of a sender write facts to one instance, and records the outcome: whether they were merged, and the state afterwards. A flow that
 * ran again, since its process died, answers the state at that time. If the answer does not say, it may still write, once.
 */
export const sendTo = async (
  context: ClientContext,
  url: string,
  { instanceId, name, writes, sender }: Submission & { readonly name: string; readonly sender: string },
): Promise<ServiceAnswer | undefined> => {
  const begunAt = context.now();
  const none = Object.fromEntries(FACTS.map((fact) => [fact, null]));
  const answer = await callJson(`${url}/api/v1/contexts/${SENDER_SLUG}/${sender}`, {
    ...{ method: 'POST', apiKey: context.apiKey, body: { target: instanceId, ...none, ...writes } },
  });
  const times = { begunAt, endedAt: context.now() };
  const seen = stateSentIn(answer);
  const outcome = { type: seen === undefined ? 'unknown' : 'committed' } as const;
  context.record(instanceId, { name: `send ${name}`, ...times, writes, outcome });
  if (seen !== undefined)
    context.record(instanceId, {
      ...{ name: `sent ${name}`, ...times, writes: undefined },
      outcome: { type: 'seen', seen, settled: false },
    });
  return answer;
};

const submitBatch = ({ context, random, name }: Turn): Promise<ServiceAnswer | undefined> => {
  const instanceIds = Array.from({ length: 1 + random.below(MOST_RECORDS) }, () => random.pick(context.instanceIds));
  const records = instanceIds.map((instanceId) => ({ instanceId, writes: drawFacts(context, random) }));
  return submitBatchTo(context, random.pick(context.urls), { name, records });
};

/** Submits several records, and records the outcome. Some may be for the same instance: they form one operation on it, in which later facts win. */
export const submitBatchTo = async (
  context: ClientContext,
  url: string,
  { name, records }: { readonly name: string; readonly records: readonly Submission[] },
): Promise<ServiceAnswer | undefined> => {
  const begunAt = context.now();
  const answer = await callJson(`${url}/api/v1/contexts/batch/${CONTEXT_SLUG}`, {
    ...{ method: 'POST', apiKey: context.apiKey },
    body: records.map(({ instanceId, writes }) => ({ id: instanceId, ...writes })),
  });
  const endedAt = context.now();
  for (const instanceId of new Set(records.map((record) => record.instanceId))) {
    const own = records.filter((record) => record.instanceId === instanceId).map(({ writes }) => writes);
    const writes: Facts = Object.assign({}, ...own) as Facts; // only facts are assigned
    const outcome = outcomeInBatch(answer, instanceId);
    context.record(instanceId, { name: `batch ${name}`, begunAt, endedAt, writes, outcome });
  }
  return answer;
};

const drawFacts = ({ nextValue }: ClientContext, random: SeededRandom): Facts => {
  const certain = random.pick(FACTS);
  const chosen = FACTS.filter((fact) => fact === certain || random.happens(0.3));
  return Object.fromEntries(chosen.map((fact) => [fact, nextValue()]));
};
