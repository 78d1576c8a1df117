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

/** What became of messages: records, and messages that were set apart. */
export interface Collected {
  readonly stored: number;
  /** That were stored before. */
  readonly repeated: number;
  /** Of days that are no longer kept. */
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

/** The header with which a worker says that its inputs are a part of a list. */
const isOfList = (message: SubscribedMessage): boolean => message.header('form') === 'list';

/**
 * Stores the decisions that messages hold; it resolves once the database has all of them durably, or has set apart what it cannot hold. What
 * was stored before stays as it is, so the same messages may come again. Rejects where the database is not to be had: try again later.
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
 * When a count is noted as said: `at`, or else when its message was written, where these are times that are kept, or else now. Undefined where the
 * message is older than what is kept.
 */
const timeOfCount = (days: LogDays, at: string | undefined, { writtenAt }: SubscribedMessage): string | undefined => {
  if (at !== undefined && days.outcomeOf(at.slice(0, 10)) === 'kept') return at;
  const now = new Date().toISOString();
  // A producer may have written any number there.
  const isTime = writtenAt >= 0 && writtenAt <= LAST_TIME_MS;
  if (!isTime) return now;
  const written = new Date(writtenAt).toISOString();
  const outcome = days.outcomeOf(written.slice(0, 10));
  if (outcome === 'expired') return undefined;
  return outcome === 'kept' ? written : now;
};

/** The last moment of the year 9999, epoch ms: times up to it are texts that sort as they follow. */
const LAST_TIME_MS = Date.UTC(10_000, 0) - 1;

const dayOfRecord = ({ decidedAt }: DecisionRecord): string => decidedAt.slice(0, 10);

/** What came for one workspace. */
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

/** Stores records, and halves what the database refuses until it is one record, whose message is set apart. */
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
