import { randomUUID } from 'node:crypto';
import { type CollectorUnderTest, logOf, messageOf, startCollectorUnderTest } from './collector-under-test';

let collector: CollectorUnderTest;
let workspaceId: string;
beforeAll(async () => {
  collector = await startCollectorUnderTest('decision_summaries');
  ({ workspaceId } = collector.access);
}, 180_000);
afterAll(() => collector.stop());

const MINUTE_MS = 60_000;
const at = (minutesAgo: number): string => new Date(Date.now() - minutesAgo * MINUTE_MS).toISOString();
const minuteOf = (time: string): string => `${time.slice(0, 16)}:00.000Z`;

interface Summary {
  readonly total: { readonly count: number };
  readonly groups: readonly Readonly<Record<string, unknown>>[];
  readonly is_complete: boolean;
  readonly missing_until?: string | null;
  readonly missing?: readonly Readonly<Record<string, unknown>>[];
}
const summarise = async (parameters: Readonly<Record<string, string>>, key?: string): Promise<Summary> => {
  const { status, body } = await collector.get('/summary', parameters, key);
  expect({ status, body }).toMatchObject({ status: 200 });
  return body as unknown as Summary;
};

describe('a summary', () => {
  it('counts inputs, errors and durations, in total and by rule', async () => {
    const { versionId, ruleId } = await collector.makeRule('summed', []);
    const items = [1, 2, 3, 4].map((ms) => ({ duration_us: ms * 1_000 }));
    const log = logOf(workspaceId, [...items, { status: 422, code: 'evaluation_failed', duration_us: 9_000 }], {
      ...{ slug: 'summed', version_id: versionId },
    });
    await collector.store(messageOf(log, 'list'));
    const sums = { count: 5, errors: 1, duration_ms: { p50: 3, p90: 9, p95: 9, p99: 9, max: 9 } };
    expect(await summarise({ rules: 'summed' })).toMatchObject({
      total: sums,
      groups: [{ type: 'rule', name: 'summed', asset_id: ruleId, ...sums }],
      is_complete: true,
    });
    expect((await summarise({ rules: 'summed', search: 'duration > 2.5' })).total).toMatchObject({ count: 3 });
    expect(await summarise({ rules: 'nothing' })).toMatchObject({
      total: { count: 0, errors: 0, duration_ms: null },
      groups: [],
    });
  });

  it('is grouped by version, status and time, and says when there are more groups', async () => {
    const versions = [randomUUID(), randomUUID()];
    const [early, late] = [at(130), at(5)];
    const logs = versions.flatMap((version_id) =>
      [early, late].map((received_at) =>
        messageOf(
          logOf(workspaceId, [{}, { status: 500, code: 'internal_error' }], {
            slug: 'grouped',
            version_id,
            received_at,
          }),
          'list',
        ),
      ),
    );
    await collector.store(...logs);
    const rules = 'grouped';
    const byVersion = await summarise({ rules, by: 'version' });
    expect(byVersion.groups.map(({ version_id, count }) => [version_id, count]).sort()).toEqual(
      versions.map((version) => [version, 4]).sort(),
    );
    expect((await summarise({ rules, by: 'status' })).groups).toMatchObject([
      { status: 200, count: 4, errors: 0 },
      { status: 500, count: 4, errors: 4 },
    ]);
    expect((await summarise({ rules, by: 'time,status', bucket: 'minute' })).groups).toMatchObject([
      { time: minuteOf(late), status: 200, count: 2 },
      { time: minuteOf(late), status: 500, count: 2 },
      { time: minuteOf(early), status: 200, count: 2 },
      { time: minuteOf(early), status: 500, count: 2 },
    ]);
    expect((await summarise({ rules, by: 'time', bucket: 'day', start: at(60) })).groups).toMatchObject([{ count: 4 }]);
    expect(await summarise({ rules, by: 'status', limit: '1' })).toMatchObject({
      groups: [{ status: 200 }],
      is_complete: false,
      total: { count: 8 },
    });
  });

  it('counts a refusal that stands for several that many times', async () => {
    const refused = { status: 503, code: 'overloaded', stands_for: 40, request: null, duration_us: 0 };
    await collector.store(messageOf(logOf(workspaceId, [refused], { slug: 'refused', version_id: '' })));
    expect(await summarise({ rules: 'refused', by: 'version' })).toMatchObject({
      total: { count: 40, errors: 40, duration_ms: null },
      groups: [{ name: 'refused' }],
    });
    const { body } = await collector.get('/query', { rules: 'refused' });
    expect(body['data']).toMatchObject([{ status: 503, decision: { stands_for: 40 } }]);
  });

  it('counts only visible decisions for a restricted key, and reports no missing messages to it', async () => {
    const { versionId } = await collector.makeRule('seen', ['north']);
    const hidden = await collector.makeRule('hidden', ['south']);
    for (const version_id of [versionId, hidden.versionId])
      await collector.store(messageOf(logOf(workspaceId, [{}], { slug: 'either', version_id })));
    const key = await collector.makeKey('admin', ['north']);
    const seen = await summarise({ rules: 'either' }, key);
    expect(seen.total).toMatchObject({ count: 1 });
    expect(seen).not.toHaveProperty('missing');
    expect((await summarise({ rules: 'either' })).total).toMatchObject({ count: 2 });
  });

  it.each([
    { by: 'slug' },
    { by: '' },
    { by: 'time,time,time,time,time' },
    { bucket: 'second' },
    { bucket: "hour'); drop table decision_log; --" },
    { limit: '0' },
    { limit: '1001' },
    { start: at(1), end: at(2) },
    { search: 'status >' },
    { cursor: 'x' },
  ])('refuses %j', async (parameters) => {
    expect(await collector.get('/summary', parameters as unknown as Record<string, string>)).toMatchObject({
      status: 400,
    });
  });
});

describe('messages that are missing', () => {
  /** Stores messages of a producer by number, each with the minutes since its decision. */
  const numbered = (producer: string, ...messages: readonly (readonly [sequence: number, minutesAgo: number])[]) =>
    collector.store(
      ...messages.map(([sequence, minutes]) =>
        messageOf(logOf(workspaceId, [{}], { producer, sequence, received_at: at(minutes) })),
      ),
    );
  const reportOf = (producer: string, next: number, ended = false, minutesAgo = 0) => ({
    ...{ v: 2, producer, reported_at: at(minutesAgo), ended },
    workspaces: [{ workspace_id: workspaceId, next }],
  });
  const report = (producer: string, next: number, ended: boolean, minutesAgo: number) =>
    collector.store(messageOf(reportOf(producer, next, ended, minutesAgo)));
  const missingOf = async (producer: string, parameters: Readonly<Record<string, string>> = {}) =>
    (await summarise(parameters)).missing?.filter((one) => one['producer'] === producer);

  it('are reported with their number and the minutes between which they were decided', async () => {
    await numbered('gaps', [0, 60], [1, 60], [5, 50], [6, 40], [8, 30]);
    await report('gaps', 9, true, 20);
    expect(await missingOf('gaps')).toMatchObject([
      { from: 7, count: 1, after: minuteOf(at(40)), before: minuteOf(at(30)) },
      { from: 2, count: 3, after: minuteOf(at(60)), before: minuteOf(at(50)) },
    ]);
    expect(await missingOf('gaps', { start: at(45), end: at(35) })).toMatchObject([{ from: 7 }]);
    await numbered('gaps', [7, 40], [4, 50], [2, 55], [3, 55]);
    expect(await missingOf('gaps')).toEqual([]);
  });

  it('are none if messages come out of order, twice, or in the middle of a batch', async () => {
    await numbered('orderly', [3, 10], [1, 12]);
    await numbered('orderly', [2, 11], [1, 12], [0, 14]);
    await report('orderly', 4, true, 9);
    expect(await missingOf('orderly')).toEqual([]);
  });

  it('at the end are reported if the producer reported its count', async () => {
    await numbered('ending', [0, 30]);
    await report('ending', 4, true, 20);
    expect(await missingOf('ending')).toMatchObject([{ from: 1, count: 3 }]);
  });

  it('are possible, in unknown number, if a producer fell silent without a final report', async () => {
    await numbered('killed', [0, 40], [1, 39]);
    expect(await missingOf('killed')).toMatchObject([{ from: 2, count: null, after: minuteOf(at(39)), before: null }]);
    await numbered('living', [0, 40]);
    await report('living', 1, false, 4);
    expect(await missingOf('living')).toEqual([]);
  });

  it('are not reported as long as they may be in flight', async () => {
    await numbered('fresh', [0, 1], [4, 0]);
    expect(await missingOf('fresh')).toEqual([]);
  });

  it('are not reported as long as the collector is behind', async () => {
    await numbered('behind', [0, 60], [2, 50], [5, 30]);
    await report('living-on', 1, false, 30);
    collector.collectedTo = () => undefined;
    expect(await summarise({})).toMatchObject({ missing: [], missing_until: null });
    collector.collectedTo = () => Date.now() - 40 * MINUTE_MS;
    expect(await missingOf('behind')).toMatchObject([{ from: 1 }]);
    expect(await missingOf('living-on')).toEqual([]);
    const { missing_until: until } = await summarise({});
    expect(Math.abs(Date.parse(until ?? '') - (Date.now() - 42 * MINUTE_MS))).toBeLessThan(MINUTE_MS);
    collector.collectedTo = Date.now;
    expect(await missingOf('behind')).toMatchObject([{ from: 6, count: null }, { from: 3, count: 2 }, { from: 1 }]);
  });

  it('exclude those that were set apart', async () => {
    const apart = logOf(workspaceId, [{ matched: [2 ** 40] }], { producer: 'apart', sequence: 1, received_at: at(30) });
    await numbered('apart', [0, 31], [2, 29]);
    const { setApart } = await collector.store(messageOf(apart));
    await report('apart', 3, true, 20);
    expect(setApart).toEqual(['refused']);
    expect(await missingOf('apart')).toEqual([]);
  });

  it.each([
    ['a number', () => logOf(workspaceId, [{}], { sequence: 1e22 })],
    ['a number', () => logOf(workspaceId, [{}], { sequence: 2 ** 63 })],
    ['a count', () => ({ ...reportOf('counting', 4), workspaces: [{ workspace_id: workspaceId, next: 1e22 }] })],
  ])('ignore a message with %s beyond the count: it is set apart, and blocks nothing', async (_, make) => {
    const behind = logOf(workspaceId, [{}], { slug: 'behind' });
    expect(await collector.store(messageOf(make()), messageOf(behind))).toMatchObject({
      stored: 1,
      setApart: ['unknown_shape'],
    });
  });

  it.each([
    ['said', { reported_at: '9999-12-31T23:59:59Z' }, Date.now()],
    ['written', { reported_at: '9999-12-31T23:59:59Z' }, 9e18],
    ['written', { reported_at: '1999-12-31T23:59:59Z' }, 8.64e15],
  ])('are reported as of now if a report was %s at an impossible time', async (_, change, writtenAt) => {
    const producer = `clock-${writtenAt}`;
    await collector.store({ ...messageOf({ ...reportOf(producer, 4), ...change }), writtenAt });
    const { rows } = await collector.database.inWorkspace(collector.access, (transaction) =>
      transaction.raw<{ rows: { minute: Date }[] }>(
        `select minute from decision_sequences where producer = '${producer}'`,
      ),
    );
    expect(rows.map(({ minute }) => Math.abs(Date.now() - Number(minute)) < 2 * MINUTE_MS)).toEqual([true]);
  });

  it('are not reported for expired decisions and messages', async () => {
    const [producer, writtenAt] = ['ancient', Date.UTC(2001, 1)];
    const log = logOf(workspaceId, [{}], { producer, sequence: 5, received_at: '2001-01-01T00:00:00Z' });
    expect(await collector.store({ ...messageOf(log), writtenAt })).toMatchObject({ stored: 0, expired: 1 });
    expect(await missingOf(producer)).toEqual([]);
  });

  it('are reported for a producer that was silent for days, but not for its earlier messages', async () => {
    const days = (count: number): number => count * 24 * 60;
    await numbered('paused', [0, days(9)], [2, days(8)], [4, days(7)], [3, days(7) + 2], [5, days(7)], [8, 60]);
    expect(await missingOf('paused')).toMatchObject([
      { from: 9, count: null },
      { from: 6, count: 2, after: minuteOf(at(days(7))), before: minuteOf(at(60)) },
    ]);
    await numbered('steady', [0, days(9)], [1, days(3)], [2, days(1) + 60], [3, 50]);
    await report('steady', 4, true, 40);
    expect(await missingOf('steady')).toEqual([]);
    expect(await missingOf('paused', { start: at(days(10)) })).toHaveLength(3);
  });

  it('are reported by workspace, and never to a restricted access', async () => {
    const other = await collector.makeWorkspace('other-missing');
    const key = await collector.makeKey('admin', [], other);
    await numbered('shared', [0, 30], [3, 25]);
    await report('shared', 4, true, 20);
    expect(await missingOf('shared')).toHaveLength(1);
    expect((await summarise({}, key)).missing).toEqual([]);
    const rows = await collector.database.inWorkspace({ workspaceId, userGroups: ['north'] }, (transaction) =>
      transaction.raw<{ rows: unknown[] }>('select from decision_sequences'),
    );
    expect(rows.rows).toEqual([]);
  });
});
