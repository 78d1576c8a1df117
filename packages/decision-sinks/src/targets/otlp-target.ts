import { type SinkRecord } from '../reading/sink-record';
import { type TargetSettings } from '../reading/sink-settings';
import { type SendOutcome, type Target } from './target';
import { createWebClient, objectOf, unavailable, type WebAnswer } from './web-client';

type OtlpSettings = Extract<TargetSettings, { kind: 'otlp' }>;

/** Exports records as logs of the OpenTelemetry protocol, in its JSON form over HTTP. */
export const createOtlpTarget = (settings: OtlpSettings, timeoutMs: number): Target => {
  const client = createWebClient(settings, timeoutMs);
  const { url, resource } = settings;
  return {
    send: (records, signal) => {
      const body = JSON.stringify({
        resourceLogs: [
          {
            resource: { attributes: attributesOf(resource) },
            scopeLogs: [{ scope: { name: 'decision-log' }, logRecords: records.map(toLogRecord) }],
          },
        ],
      });
      const headers = { 'content-type': 'application/json' };
      return client.post({ url, headers, body, signal }, (answer) => readAnswer(answer, records.length, url.origin));
    },
    stop: () => client.stop(),
  };
};

const NANOSECONDS = '000000';

const toLogRecord = ({ id, timestamp, facts, documents, writtenAt }: SinkRecord) => {
  const { trace_id: traceId, status, timestamp: _, id: __, ...others } = facts;
  const members = Object.entries(documents).map(([field, text]) => `${JSON.stringify(field)}:${text}`);
  return {
    timeUnixNano: `${Date.parse(timestamp)}${NANOSECONDS}`,
    observedTimeUnixNano: `${writtenAt}${NANOSECONDS}`,
    ...severityOf(status),
    body: { stringValue: `{${members.join(',')}}` },
    attributes: [
      { key: 'log.record.uid', value: { stringValue: id } },
      ...attributesOf(
        Object.fromEntries(Object.entries({ status, ...others }).map(([name, value]) => [`decision.${name}`, value])),
      ),
    ],
    ...(typeof traceId === 'string' ? { traceId } : {}),
  };
};

/** Severity numbers of the protocol: information, warning, error. */
const severityOf = (status: unknown): { readonly severityNumber: number; readonly severityText: string } => {
  if (typeof status !== 'number' || status < 400) return { severityNumber: 9, severityText: 'INFO' };
  return status < 500 ? { severityNumber: 13, severityText: 'WARN' } : { severityNumber: 17, severityText: 'ERROR' };
};

const attributesOf = (values: Readonly<Record<string, unknown>>) =>
  Object.entries(values).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [{ key, value: anyValueOf(value) }],
  );

const anyValueOf = (value: unknown): object => {
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValueOf) } };
  return { stringValue: String(value) };
};

/**
 * A receiver that refuses some records does not say which, and must not receive them again: all go to the dead letters, so that none is
 * lost.
 */
const readAnswer = (answer: WebAnswer, sent: number, origin: string): SendOutcome => {
  const object = answer.text === '' ? {} : objectOf(answer);
  if (object === undefined)
    return unavailable(`${origin} answered ${answer.status} with something other than the protocol says`, answer.text);
  const partial = object['partialSuccess'];
  const { rejectedLogRecords: rejected = 0 } = (
    typeof partial === 'object' && partial !== null ? partial : {}
  ) as Readonly<Record<string, unknown>>;
  if (Number(rejected) === 0) return { kind: 'accepted' };
  const detail = JSON.stringify(partial);
  if (Number(rejected) >= sent)
    return { kind: 'refused', reason: `${origin} accepted none of ${sent} records`, detail };
  const reason = `${origin} accepted all but ${String(rejected).slice(0, 20)} of ${sent} records and did not say which`;
  const refused = Array.from({ length: sent }, (_, at) => ({ at, reason }));
  return { kind: 'partly', refused, again: [], isFinal: true, reason };
};
