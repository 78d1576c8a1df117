import { setTimeout as pause } from 'node:timers/promises';
import { type Facts, type Operation } from './history';
import { outcomeInBatch, outcomeOfRead, outcomeOfSubmission } from './read-answer';
import { type SeededRandom } from './seeded-random';
import { callJson, type ServiceAnswer } from './service-call';
import { CONTEXT_SLUG, FACTS } from './watched-context';

/** State that clients share. */
export interface ClientContext {
  readonly apiKey: string;
  /** Base URLs of the processes; a client asks any of them. */
  readonly urls: readonly [string, ...string[]];
  readonly instanceIds: readonly [string, ...string[]];
  /** A number that no other call has answered. */
  readonly nextValue: () => number;
  /** ms, of one clock for all clients. */
  readonly now: () => number;
  readonly record: (instanceId: string, operation: Operation) => void;
}

/** Records of a batch, at most. */
const MOST_RECORDS = 4;
const SUBMITS = 0.5;
const READS = 0.25;
/** How long a client rests that reached nobody, ms. */
const REST_MS = 200;

/** One client: one operation after the other, drawn by chance, until told to stop. */
export const runClient = async (
  context: ClientContext,
  { name, random, isOver }: { readonly name: string; readonly random: SeededRandom; readonly isOver: () => boolean },
): Promise<void> => {
  for (let count = 1; !isOver(); count += 1) {
    const turn = { context, random, name: `${name}.${count}` };
    const draw = random.next();
    const answer = await (draw < SUBMITS ? submit(turn) : draw < SUBMITS + READS ? read(turn) : submitBatch(turn));
    if (answer === undefined || answer.status === 0 || answer.status === 503) await pause(REST_MS);
  }
};

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

/** Submits facts to one instance, and records what came of it. */
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

/** Reads one instance, and records what it was. */
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

const submitBatch = ({ context, random, name }: Turn): Promise<ServiceAnswer | undefined> => {
  const instanceIds = Array.from({ length: 1 + random.below(MOST_RECORDS) }, () => random.pick(context.instanceIds));
  const records = instanceIds.map((instanceId) => ({ instanceId, writes: drawFacts(context, random) }));
  return submitBatchTo(context, random.pick(context.urls), { name, records });
};

/**
 * Submits several records, and records what came of it. Some may be for the same instance: they are one operation on it, of which later facts
 * stand.
 */
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
    const writes: Facts = Object.assign({}, ...own) as Facts; // facts are all that is assigned
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
