import { hash } from 'node:crypto';
import { type SinkRecord } from '../reading/sink-record';
import { type TargetSettings } from '../reading/sink-settings';
import { type Target } from './target';
import { createWebClient, unavailable, type WebAnswer } from './web-client';

type RowsSettings = Extract<TargetSettings, { kind: 'json-rows' }>;

/** Error codes of the server for a bad value: it could not be parsed, or does not fit its column. */
const BLAMES_ROWS: ReadonlySet<number> = new Set([6, 26, 27, 38, 41, 53, 69, 70, 72, 117, 130, 131, 349, 441]);
/** It reports failures in the body, even after a success status has been sent. */
const FAILURE = /^Code: (\d{1,5})\b/m;

/**
 * Inserts records as rows of JSON with one `INSERT` over HTTP. Request, response and trace are texts. The batch has a name, by which the
 * server drops a repeated insert.
 */
export const createRowsTarget = (settings: RowsSettings, timeoutMs: number): Target => {
  const client = createWebClient(settings, timeoutMs);
  const { origin } = settings.url;
  return {
    send: async (records, signal) => {
      const body = records.map((record) => `${rowOf(record)}\n`).join('');
      const request = { url: insertUrl(settings, records), body, signal, headers: { 'content-type': 'text/plain' } };
      const outcome = await client.post(request, (answer) =>
        isInserted(answer)
          ? { kind: 'accepted' }
          : unavailable(`${origin} answered ${answer.status} and reported an error in the answer`, answer.text),
      );
      if (outcome.kind !== 'unavailable' || !blamesRows(outcome.detail)) return outcome;
      return { kind: 'refused', reason: outcome.reason, detail: outcome.detail };
    },
    stop: () => client.stop(),
  };
};

const rowOf = ({ facts, documents }: SinkRecord): string => JSON.stringify({ ...facts, ...documents });

const insertUrl = ({ url, table }: RowsSettings, records: readonly SinkRecord[]): URL => {
  const target = new URL(url);
  const quoted = table.split('.').map((part) => `\`${part}\``);
  const parameters = {
    query: `INSERT INTO ${quoted.join('.')} FORMAT JSONEachRow`,
    date_time_input_format: 'best_effort',
    input_format_skip_unknown_fields: '1',
    wait_end_of_query: '1',
    insert_deduplication_token: hash('sha256', records.map(({ id }) => id).join('\n')).slice(0, 32),
  };
  for (const [name, value] of Object.entries(parameters)) target.searchParams.set(name, value);
  return target;
};

/** A successful insert has an empty answer. */
const isInserted = ({ headers, text }: WebAnswer): boolean =>
  text.trim() === '' && !Object.keys(headers).some((name) => name.endsWith('-exception-code'));

const blamesRows = (detail: string | undefined): boolean => {
  const code = FAILURE.exec(detail ?? '')?.[1];
  return code !== undefined && BLAMES_ROWS.has(Number(code));
};
