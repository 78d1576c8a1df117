import { type DecisionRecord, readMessage } from '@decision/decision-logs';
import { type SinkRecord, toSinkRecord } from '../src/reading/sink-record';
import { type FieldMask } from '../src/reading/sink-settings';

const WORKSPACE = '7b0a4a0e-6a3c-4a55-9a52-6d6f0c1f2d3e';

/** A decision, parsed from a message as the collector does. `log` and `item` change the message. */
export const decisionOf = (log: object = {}, item: object = {}): DecisionRecord => {
  const message = {
    ...{ v: 1, id: 'gateway-1:1', kind: 'rule', workspace_id: WORKSPACE, key_id: 'key', slug: 'price' },
    ...{ selector: 'latest', version_id: 'version-1', request_id: 'request-1', trace_id: null, worker: 'worker-1' },
    received_at: '2026-01-15T09:30:00.250Z',
    items: [{ index: 0, status: 'success', duration_us: 1_500, matched: [0, 2], request: {}, response: {}, ...item }],
    ...log,
  };
  const { records, detail } = readMessage(Buffer.from(JSON.stringify(message)), false);
  const [record] = records;
  if (record === undefined) throw new Error(detail);
  return record;
};

export const everything: FieldMask = { only: undefined, without: [] };

export const sinkRecordOf = (record: DecisionRecord, fields: FieldMask = everything): SinkRecord =>
  toSinkRecord(record, { fields, decisionIdOf: ({ messageId }) => `id-of-${messageId}`, writtenAt: 1_768_469_401_000 });

/** Records with different ids. */
export const manyRecords = (count: number): readonly SinkRecord[] =>
  Array.from({ length: count }, (_, at) => sinkRecordOf(decisionOf({ id: `m${at}` }, { request: { at } })));
