import { jsonOf, passes, recordFields } from '../src/reading/sink-record';
import { type FieldMask, type SinkFilter } from '../src/reading/sink-settings';
import { decisionOf, everything, sinkRecordOf } from './records';

const sent = (item: object, fields: FieldMask = everything, log: object = {}): Record<string, unknown> =>
  JSON.parse(jsonOf(sinkRecordOf(decisionOf(log, item), fields))) as Record<string, unknown>;
const only = (...paths: string[]): FieldMask => ({ only: paths.map((path) => path.split('.')), without: [] });
const without = (...paths: string[]): FieldMask => ({ only: undefined, without: paths.map((path) => path.split('.')) });

describe('a record', () => {
  it('is sent whole, as one line of JSON', () => {
    const request = { order: { total: 12.5, note: 'a\nb' }, __proto__: 1, 'a"b': [] };
    const line = jsonOf(sinkRecordOf(decisionOf({}, { request, path_trace: [{ node: 'in' }] })));
    expect(line).not.toContain('\n');
    expect(JSON.parse(line)).toEqual({
      ...{ id: 'id-of-gateway-1:1.0', decision_id: 'id-of-gateway-1:1', item: 0, of_list: false },
      ...{ timestamp: '2026-01-15T09:30:00.250Z', workspace_id: '7b0a4a0e-6a3c-4a55-9a52-6d6f0c1f2d3e' },
      ...{ asset_id: null, context: null, instance: null, flow: null, stands_for: 1 },
      ...{ type: 'rule', name: 'price', selector: 'latest', version_id: 'version-1', key_id: 'key' },
      ...{ request_id: 'request-1', trace_id: null, execution_id: null, status: 200, error: null, duration_ms: 1.5 },
      ...{ matched: [0, 2], worker: 'worker-1', abbreviated: false },
      ...{ request, response: {}, path_trace: [{ node: 'in' }] },
    });
  });

  it('says where it ran, and that it was cut before it was written', () => {
    const ran = { ...decisionOf(), assetId: 'asset', contextSlug: 'customer', instance: '7', flowSlug: 'loan' };
    expect(JSON.parse(jsonOf(sinkRecordOf({ ...ran, standsFor: 12, isCut: true })))).toMatchObject({
      ...{ asset_id: 'asset', context: 'customer', instance: '7', flow: 'loan', stands_for: 12, abbreviated: true },
    });
  });

  it('has each of the fields that a mask may name, and no others', () => {
    const record = { ...decisionOf({}, { path_trace: [] }) };
    expect(Object.keys(JSON.parse(jsonOf(sinkRecordOf(record))) as object)).toEqual(recordFields);
  });

  it('has the same id whenever it is sent', () => {
    const [one, other] = [sinkRecordOf(decisionOf()), sinkRecordOf(decisionOf())];
    expect(one.id).toBe(other.id);
    expect(sinkRecordOf(decisionOf({ id: 'gateway-1:2' })).id).not.toBe(one.id);
  });
});

describe('a field mask', () => {
  it('leaves fields out, at any depth and in each item of lists', () => {
    const request = { ssn: 1, people: [{ ssn: 2, name: 'a' }, [{ ssn: 3 }], 'ssn'], inner: { ssn: 4 } };
    expect(sent({ request }, without('request.people.ssn', 'request.ssn', 'worker'))).toEqual(
      expect.objectContaining({ request: { people: [{ name: 'a' }, [{}], 'ssn'], inner: { ssn: 4 } } }),
    );
    expect(sent({ request }, without('worker'))).not.toHaveProperty('worker');
    expect(sent({ request }, without('request'))).not.toHaveProperty('request');
  });

  it('keeps only the named fields, and always id and timestamp', () => {
    const request = { order: { total: 5, note: 'secret' }, list: [{ a: 1, b: 2 }, 7], other: 'secret' };
    expect(sent({ request }, only('status', 'request.order.total', 'request.list.a'))).toEqual({
      ...{ id: 'id-of-gateway-1:1.0', timestamp: '2026-01-15T09:30:00.250Z', status: 200 },
      request: { order: { total: 5 }, list: [{ a: 1 }, null] },
    });
    expect(Object.keys(sent({ request }, only()))).toEqual(['id', 'timestamp']);
    expect(sent({ request: { a: 1, b: 2 } }, { only: [['request']], without: [['request', 'b']] })).toMatchObject({
      request: { a: 1 },
    });
  });

  it('removes the trace with any part of request or response, since it repeats them', () => {
    const item = { request: { ssn: 'marker' }, path_trace: [{ inputs: { ssn: 'marker' } }] };
    expect(JSON.stringify(sent(item, without('request.ssn')))).not.toContain('marker');
    expect(sent(item, without('worker'))).toHaveProperty('path_trace');
  });

  it('drops documents that nest too deeply to be masked, and says so', () => {
    let nested: unknown = 'marker';
    for (let level = 0; level < 2_500; level += 1) nested = { a: nested };
    const record = decisionOf();
    const text = `${'{"a":'.repeat(200_000)}"marker"${'}'.repeat(200_000)}`;
    const masked = sinkRecordOf({ ...record, request: text }, without(`request${'.a'.repeat(200_000)}`));
    expect(JSON.parse(jsonOf(masked))).toMatchObject({ abbreviated: true, response: {} });
    expect(jsonOf(masked)).not.toContain('marker');
    expect(jsonOf(sinkRecordOf(decisionOf({}, { request: nested }), without('request.b')))).toContain('marker');
  });
});

describe('a filter', () => {
  const all: SinkFilter = { assets: undefined, workspaces: undefined, statuses: undefined, sampleRate: 1 };
  const price = decisionOf();
  const failed = decisionOf({ kind: 'flow' }, { status: 'error', code: 'evaluation_failed' });

  it('selects by asset, workspace and status', () => {
    expect(passes(all, price)).toBe(true);
    const assets = [{ kind: 'flow', slug: 'price' }] as const;
    expect([price, failed].map((record) => passes({ ...all, assets }, record))).toEqual([false, true]);
    expect(passes({ ...all, assets: [{ kind: undefined, slug: 'price' }] }, price)).toBe(true);
    expect(passes({ ...all, assets: [{ kind: undefined, slug: 'other' }] }, price)).toBe(false);
    expect(passes({ ...all, workspaces: new Set([price.workspaceId]) }, price)).toBe(true);
    expect(passes({ ...all, workspaces: new Set(['another']) }, price)).toBe(false);
    expect([price, failed].map((record) => passes({ ...all, statuses: [[400, 599]] }, record))).toEqual([false, true]);
  });

  it('samples requests deterministically, with all decisions of each', () => {
    const half = { ...all, sampleRate: 0.5 };
    const records = Array.from({ length: 2_000 }, (_, at) => decisionOf({ request_id: `request-${at}` }));
    const taken = records.filter((record) => passes(half, record));
    expect(taken.length).toBeGreaterThan(850);
    expect(taken.length).toBeLessThan(1_150);
    expect(records.filter((record) => passes(half, { ...record, messageId: 'other', item: 9 }))).toEqual(taken);
    expect(
      records.filter((record) => passes({ ...all, sampleRate: 0.25 }, record)).every((one) => taken.includes(one)),
    ).toBe(true);
  });
});
