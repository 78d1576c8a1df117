import { type SubscribedMessage } from '@decision/broker';
import { type DecisionRecord, type ProducerCount, readMessage } from '@decision/decision-logs';
import {
  type Database,
  lacksDecisionDay,
  quarantineDecisions,
  type QuarantinedMessage,
  refusesDecisions,
  storeDecisions,
} from '@decision/persistence';
import { type LogDays } from './days';

/** Outcomes of messages: their records, and messages that were set apart. */
export interface Collected {
  readonly stored: number;
  /** Already stored earlier. */
  readonly repeated: number;
  /** Of expired days. */
  readonly expired: number;
  /** Reasons of messages that were set apart. */
  readonly setApart: readonly string[];
}

interface StoreOptions {
  readonly database: Pick<Database, 'inWorkspace' | 'lookUp'>;
  readonly days: LogDays;
}

interface Origin {
  readonly record: DecisionRecord;
  readonly message: SubscribedMessage;
}

/** The header by which a worker marks its inputs as part of a list. */
const isOfList = (message: SubscribedMessage): boolean => message.header('form') === 'list';

/**
 * Stores the decisions that messages hold; resolves once the database has stored all of them durably, or has set apart those that it cannot
 * store. Existing decisions are unchanged, so the same messages may come again. Rejects if the database is unavailable: try again later.
 */
export const storeMessages = async (
  { database, days }: StoreOptions,
  messages: readonly SubscribedMessage[],
): Promise<Collected> => {
  const apart: QuarantinedMessage[] = [];
  const wanted: Origin[] = [];
  const counted: ProducerCount[] = [];
  let expired = 0;
  for (const message of messages) {
    const { records, counts, reason, detail } = readMessage(message.value, isOfList(message));
    if (reason !== undefined) apart.push(quarantined(message, reason, detail));
    const outcome = records[0] === undefined ? 'kept' : days.outcomeOf(dayOfRecord(records[0]));
    for (const count of counts) {
      const at = timeOfCount(days, outcome === 'kept' ? count.at : undefined, message);
      if (at !== undefined) counted.push({ ...count, at });
    }
    if (outcome === 'expired') expired += records.length;
    else if (outcome === 'future')
      apart.push(quarantined(message, 'future', `Its time, ${records[0]?.decidedAt ?? ''}, is more than a day ahead.`));
    else for (const record of records) wanted.push({ record, message });
  }
  await days.ensure(wanted.map(({ record }) => dayOfRecord(record)));
  let [stored, repeated] = [0, 0];
  try {
    for (const [workspaceId, { origins, counts }] of byWorkspace(wanted, counted)) {
      const outcome = await storeOrSetApart(database, { workspaceId, origins, counts }, apart);
      stored += outcome.stored;
      repeated += outcome.repeated;
    }
  } catch (error) {
    if (lacksDecisionDay(error)) days.forget();
    throw error;
  }
  await quarantineDecisions(database, apart);
  return { stored, repeated, expired, setApart: apart.map(({ reason }) => reason) };
};

/**
 * The recorded time of a count: `at`, else the time of its message, if these are in the retention, else now. Undefined if the message has
 * expired.
 */
const timeOfCount = (days: LogDays, at: string | undefined, { writtenAt }: SubscribedMessage): string | undefined => {
  if (at !== undefined && days.outcomeOf(at.slice(0, 10)) === 'kept') return at;
  const now = new Date().toISOString();
  // A producer may have written any number.
  const isTime = writtenAt >= 0 && writtenAt <= LAST_TIME_MS;
  if (!isTime) return now;
  const written = new Date(writtenAt).toISOString();
  const outcome = days.outcomeOf(written.slice(0, 10));
  if (outcome === 'expired') return undefined;
  return outcome === 'kept' ? written : now;
};

/** The last moment of the year 9999, epoch ms: up to it, texts sort like times. */
const LAST_TIME_MS = Date.UTC(10_000, 0) - 1;

const dayOfRecord = ({ decidedAt }: DecisionRecord): string => decidedAt.slice(0, 10);

/** The messages of one workspace. */
interface Group {
  readonly workspaceId: string;
  readonly origins: readonly Origin[];
  readonly counts: readonly ProducerCount[];
}

const byWorkspace = (
  origins: readonly Origin[],
  counts: readonly ProducerCount[],
): ReadonlyMap<string, Omit<Group, 'workspaceId'>> => {
  const groups = new Map<string, { readonly origins: Origin[]; readonly counts: ProducerCount[] }>();
  const groupOf = (workspaceId: string) => {
    const group = groups.get(workspaceId) ?? { origins: [], counts: [] };
    groups.set(workspaceId, group);
    return group;
  };
  for (const origin of origins) groupOf(origin.record.workspaceId).origins.push(origin);
  for (const count of counts) groupOf(count.workspaceId).counts.push(count);
  return groups;
};

const quarantined = (message: SubscribedMessage, reason: string, detail: string): QuarantinedMessage => ({
  topic: message.topic,
  partition: message.partition,
  offset: message.offset,
  reason,
  detail,
  payload: message.value ?? Buffer.alloc(0),
});

/** Stores records; a refused batch is halved down to a single record, whose message is set apart. */
const storeOrSetApart = async (
  database: StoreOptions['database'],
  { workspaceId, origins, counts }: Group,
  apart: QuarantinedMessage[],
): Promise<{ readonly stored: number; readonly repeated: number }> => {
  try {
    const records = origins.map(({ record }) => record);
    return await storeDecisions(database, workspaceId, records, counts);
  } catch (error) {
    const [first] = origins;
    if (!refusesDecisions(error) || first === undefined) throw error;
    if (origins.length === 1) {
      const isKnown = apart.some(
        ({ partition, offset }) => partition === first.message.partition && offset === first.message.offset,
      );
      if (!isKnown)
        apart.push(quarantined(first.message, 'refused', `The database cannot hold item ${first.record.item}.`));
      return storeDecisions(database, workspaceId, [], counts);
    }
    const middle = Math.ceil(origins.length / 2);
    const halves = [origins.slice(0, middle), origins.slice(middle)];
    let [stored, repeated] = [0, 0];
    for (const [index, half] of halves.entries()) {
      const group = { workspaceId, origins: half, counts: index === 0 ? counts : [] };
      const outcome = await storeOrSetApart(database, group, apart);
      stored += outcome.stored;
      repeated += outcome.repeated;
    }
    return { stored, repeated };
  }
};
