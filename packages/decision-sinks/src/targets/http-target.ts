import { createHmac, hash } from 'node:crypto';
import { jsonOf, type SinkRecord } from '../reading/sink-record';
import { type TargetSettings } from '../reading/sink-settings';
import { type SendOutcome, type Target } from './target';
import { createWebClient, objectOf, unavailable, type WebAnswer } from './web-client';

type HttpSettings = Extract<TargetSettings, { kind: 'http' }>;

/**
 * Posts records as JSON lines. A success status means that all were accepted, unless the answer is a JSON object whose `error` or `errors`
 * says otherwise.
 */
export const createHttpTarget = (settings: HttpSettings, timeoutMs: number): Target => {
  const { url, signingKey } = settings;
  const client = createWebClient(settings, timeoutMs);
  return {
    send: (records, signal) => {
      const body = records.map((record) => `${jsonOf(record)}\n`).join('');
      const headers = { 'content-type': 'application/x-ndjson', ...signatureOf(records, body, signingKey) };
      return client.post({ url, headers, body, signal }, (answer) => acceptanceOf(answer, url.origin));
    },
    stop: () => client.stop(),
  };
};

/** The batch is named after its records, so a repeated batch has the same name. */
const signatureOf = (
  records: readonly SinkRecord[],
  body: string,
  key: string | undefined,
): Readonly<Record<string, string>> => {
  const id = hash('sha256', records.map((record) => record.id).join('\n')).slice(0, 32);
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const headers = { 'idempotency-key': id, 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (key === undefined) return headers;
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { ...headers, 'webhook-signature': `v1,${signature}` };
};

const acceptanceOf = (answer: WebAnswer, origin: string): SendOutcome => {
  const { error, errors } = objectOf(answer) ?? {};
  if (isNothing(error) && isNothing(errors)) return { kind: 'accepted' };
  return unavailable(`${origin} answered ${answer.status} and reported an error in the answer`, answer.text);
};

const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  value === '' ||
  value === 0 ||
  (Array.isArray(value) && value.length === 0);
