import { readMessage } from '.';

const log = (change: object = {}, item: object = {}) => ({
  v: 1,
  id: 'gateway-1:a',
  kind: 'rule',
  workspace_id: '5f9c1f4e-7f4b-4c55-8a49-2f7f0a8f1d11',
  key_id: 'k',
  slug: 'price',
  selector: 'latest',
  version_id: '8f3f6c0a-2f1a-4d8b-9a39-3f1b9a1f2c10',
  request_id: 'r',
  trace_id: null,
  received_at: '2026-01-15T09:30:00.000Z',
  worker: 'w',
  items: [
    { index: 0, status: 'success', duration_us: 5, matched: [0], request: { a: 1 }, response: { b: 2 }, ...item },
  ],
  ...change,
});
/** The same message as this release writes it. */
const current = (change: object = {}, item: object = {}) => {
  const { worker: producer, ...facts } = log({}, { status: 200, ...item });
  return {
    ...facts,
    ...{ v: 2, producer, sequence: 7, asset_id: null, context: null, flow: null },
    ...change,
  };
};
const read = (value: unknown, isOfList = false) => readMessage(Buffer.from(JSON.stringify(value)), isOfList);

describe('a message of the log', () => {
  it('becomes one record per item', () => {
    const { records, reason } = read(log());
    expect(reason).toBeUndefined();
    expect(records).toMatchObject([
      { item: 0, isOfList: false, status: 200, errorCode: null, request: '{"a":1}', response: '{"b":2}' },
    ]);
  });

  it("has the status of an item's error, and 500 for an unknown error", () => {
    expect(read(log({}, { status: 'error', code: 'payload_too_large' })).records).toMatchObject([{ status: 413 }]);
    expect(read(log({}, { status: 'error', code: 'toString' })).records).toMatchObject([
      { status: 500, errorCode: 'toString' },
    ]);
  });

  it('is part of a list if its sender says so, if it has several items, or if it begins later', () => {
    const [item] = log().items;
    expect(read(log(), true).records).toMatchObject([{ isOfList: true }]);
    expect(read(log({ items: [item, { ...item, index: 1 }] })).records).toMatchObject([
      { isOfList: true },
      { isOfList: true },
    ]);
    expect(read(log({}, { index: 7 })).records).toMatchObject([{ isOfList: true }]);
  });

  it('with runs within operations on instances is not a list', () => {
    const [item] = log().items;
    const run = (index: number) => ({ ...item, index, execution_id: String(index).repeat(32) });
    expect(read(log({ items: [run(0), run(1)] })).records).toMatchObject([{ isOfList: false }, { isOfList: false }]);
  });

  it.each([
    ['not_text', Buffer.from([0xff, 0xfe])],
    ['not_json', Buffer.from('{"v":1')],
    ['not_json', Buffer.from('{"v":1e999}')],
    ['not_json', null],
    ['unknown_shape', Buffer.from('[]')],
    ['unknown_shape', Buffer.from(JSON.stringify({ ...log(), v: 3 }))],
    ['unstorable_name', Buffer.from(JSON.stringify(log({ workspace_id: 'w' })))],
    ['unstorable_name', Buffer.from(JSON.stringify(log({ slug: 'a\0' })))],
    ['unstorable_name', Buffer.from(JSON.stringify(log({ request_id: 'r'.repeat(600) })))],
  ])('is set apart as %s', (reason, value) => {
    expect(readMessage(value, false)).toMatchObject({ reason, records: [] });
  });

  it('replaces characters that the database cannot hold by U+FFFD, and is also set apart', () => {
    const { records, reason } = read(
      log({}, { request: { text: 'a\0b', path: 'C:\\u0000', half: '\ud800', whole: '😀' } }),
    );
    expect(reason).toBe('altered');
    expect(records[0]?.isAltered).toBe(true);
    expect(JSON.parse(records[0]?.request ?? '')).toEqual({
      text: 'a\ufffdb',
      path: 'C:\\u0000',
      half: '\ufffd',
      whole: '😀',
    });
  });

  it("of version 2 says where it ran, how many requests it stands for, and its producer's number", () => {
    const assetId = '3f3f6c0a-2f1a-4d8b-9a39-3f1b9a1f2c10';
    const facts = { asset_id: assetId, context: 'customer', flow: 'welcome' };
    const item = { status: 503, code: 'overloaded', instance: 'c-1', stands_for: 12, abbreviated: true };
    const { records, counts } = read(current(facts, item));
    expect(records).toMatchObject([
      { assetId, contextSlug: 'customer', flowSlug: 'welcome', instance: 'c-1', standsFor: 12, isCut: true },
    ]);
    expect(records).toMatchObject([{ status: 503, errorCode: 'overloaded', worker: 'w' }]);
    expect(counts).toMatchObject([{ producer: 'w', sequence: 7, next: 8, ended: false }]);
    expect(counts).toMatchObject([{ at: '2026-01-15T09:30:00.000Z', workspaceId: log().workspace_id }]);
  });

  it('of version 1 lacks these fields', () => {
    const { records, counts } = read(log());
    expect(records).toMatchObject([
      { assetId: null, contextSlug: null, flowSlug: null, instance: null, standsFor: 1, isCut: false },
    ]);
    expect(counts).toEqual([]);
  });

  it('may be a report of how far a producer has counted', () => {
    const report = {
      ...{ v: 2, producer: 'w', reported_at: '2026-01-15T09:30:00Z', ended: true },
      workspaces: [{ workspace_id: log().workspace_id.toUpperCase(), next: 3 }],
    };
    expect(read(report)).toMatchObject({
      records: [],
      reason: undefined,
      counts: [{ workspaceId: log().workspace_id, producer: 'w', sequence: undefined, next: 3, ended: true }],
    });
    expect(read({ ...report, workspaces: [{ workspace_id: 'w', next: 3 }] })).toMatchObject({
      reason: 'unstorable_name',
    });
    expect(read({ ...report, workspaces: [] })).toMatchObject({ reason: 'unknown_shape' });
  });

  it.each([
    ['unknown_shape', current({ sequence: -1 })],
    ['unknown_shape', current({}, { status: 'success' })],
    ['unstorable_name', current({}, { instance: 'a\0' })],
    ['unstorable_name', current({ producer: 'p'.repeat(600) })],
  ])('of version 2 is set apart as %s', (reason, value) => {
    expect(read(value)).toMatchObject({ reason, records: [], counts: [] });
  });
});
