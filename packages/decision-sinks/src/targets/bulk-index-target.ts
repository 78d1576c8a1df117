import { jsonOf, type SinkRecord } from '../reading/sink-record';
import { type TargetSettings } from '../reading/sink-settings';
import { type SendOutcome, type Target } from './target';
import { blamesRecords, createWebClient, objectOf, unavailable, type WebAnswer } from './web-client';

type IndexSettings = Extract<TargetSettings, { kind: 'bulk-index' }>;

/** It exists already. */
const CONFLICT = 409;
const LONGEST_REASON = 500;

/** Indexes records with calls of `_bulk`, each under its id: a repeated record is stored once. */
export const createIndexTarget = (settings: IndexSettings, timeoutMs: number): Target => {
  const client = createWebClient(settings, timeoutMs);
  const { url } = settings;
  return {
    send: (records, signal) => {
      const body = records.map((record) => `${actionOf(record, settings)}\n${jsonOf(record)}\n`).join('');
      const headers = { 'content-type': 'application/x-ndjson', accept: 'application/json' };
      return client.post({ url, headers, body, signal }, (answer) => readAnswer(answer, records, url.origin));
    },
    stop: () => client.stop(),
  };
};

const actionOf = ({ id, timestamp }: SinkRecord, { index, action }: IndexSettings): string => {
  const date = timestamp.slice(0, 10).replaceAll('-', '.');
  return JSON.stringify({ [action]: { _index: index.replaceAll('{date}', date), _id: id } });
};

interface ItemAnswer {
  readonly id: unknown;
  readonly status: number;
  readonly reason: string;
}

/** The status of the answer says little: each item has its own, which is read even if the answer reports no errors. */
const readAnswer = (answer: WebAnswer, records: readonly SinkRecord[], origin: string): SendOutcome => {
  const items = itemsOf(objectOf(answer)?.['items']);
  if (items?.length !== records.length || items.some(({ id }, at) => id !== undefined && id !== records[at]?.id))
    return unavailable(`${origin} answered ${answer.status} without the outcome of each record`, answer.text);
  const failed = items.flatMap((item, at) => (isTaken(item) ? [] : [{ ...item, at }]));
  if (failed.length === 0) return { kind: 'accepted' };
  // Other errors concern the index: it is missing, locked because its disk is full, or busy.
  const refused = failed.filter(({ status }) => blamesRecords(status));
  const again = failed.filter((item) => !refused.includes(item));
  return {
    kind: 'partly',
    refused: refused.map(({ at, status, reason }) => ({
      at,
      reason: `${origin} answered ${status} for it: ${reason}`,
    })),
    again: again.map(({ at }) => at),
    reason: `${origin} answered ${again[0]?.status ?? refused[0]?.status ?? ''} for ${failed.length} of ${items.length} records`,
  };
};

const isTaken = ({ status }: ItemAnswer): boolean => (status >= 200 && status < 300) || status === CONFLICT;

/** Undefined if they are not what the protocol says. */
const itemsOf = (items: unknown): readonly ItemAnswer[] | undefined => {
  if (!Array.isArray(items)) return undefined;
  const read = items.map(itemOf);
  return read.every((item) => item !== undefined) ? read : undefined;
};

const itemOf = (item: unknown): ItemAnswer | undefined => {
  if (typeof item !== 'object' || item === null) return undefined;
  const result: unknown = Object.values(item)[0];
  if (typeof result !== 'object' || result === null) return undefined;
  const { _id: id, status, error } = result as Readonly<Record<string, unknown>>;
  if (typeof status !== 'number') return undefined;
  return { id, status, reason: (JSON.stringify(error) ?? 'no reason').slice(0, LONGEST_REASON) };
};
