import { randomUUID } from 'node:crypto';
import { openTableStore } from '../src/queries/table-store';
import { type CollectorUnderTest, logOf, messageOf, startCollectorUnderTest } from './collector-under-test';

let collector: CollectorUnderTest;
let workspaceId: string;
beforeAll(async () => {
  collector = await startCollectorUnderTest('decision_queries');
  ({ workspaceId } = collector.access);
}, 180_000);
afterAll(() => collector.stop());

type Entry = Readonly<Record<string, unknown>>;
const query = async (parameters: Readonly<Record<string, string>>, key?: string) => {
  const { status, body } = await collector.get('/query', parameters, key);
  expect({ status, body }).toMatchObject({ status: 200 });
  return body as { readonly data: readonly Entry[]; readonly cursor?: string; readonly count?: number };
};
const namesOf = ({ data }: { readonly data: readonly Entry[] }) => data.map(({ name }) => name);

describe('a query of decisions', () => {
  it('finds a whole decision, in the shape of the contract', async () => {
    const { ruleId, versionId } = await collector.makeRule('shape', []);
    const log = logOf(workspaceId, [{ request: { order: { total: 120 } }, response: { tier: 'gold' }, matched: [3] }], {
      ...{ slug: 'shape', version_id: versionId, trace_id: '4bf92f3577b34da6a3ce929d0e0e4736' },
    });
    await collector.store(messageOf(log));
    const { data } = await query({ search: 'request.order.total > 100 AND response.tier = "gold"', rules: 'shape' });
    expect(data).toEqual([
      {
        id: expect.any(String) as unknown,
        ...{ timestamp: log.received_at, name: 'shape', endpoint: '/api/v1/solve/shape/latest', status: 200 },
        ...{
          request: { order: { total: 120 } },
          response: { tier: 'gold' },
          trace_id: log.trace_id,
          abbreviated: false,
        },
        decision: {
          ...{ type: 'rule', asset_id: ruleId, selector: 'latest', version_id: versionId, request_id: log.request_id },
          ...{ key_id: 'key', items: [{ index: 0, status: 200, duration_ms: 0.05, matched: [3] }] },
        },
      },
    ]);
    const { status, body } = await collector.get(`/${String(data[0]?.['id'])}`);
    expect({ status, body }).toEqual({ status: 200, body: data[0] });
  });

  it('joins the chunks of a list, and says which of its items were found', async () => {
    const shared = {
      slug: 'list',
      version_id: randomUUID(),
      request_id: randomUUID(),
      received_at: new Date().toISOString(),
    };
    const chunk = (from: number, prices: readonly number[]) =>
      messageOf(
        logOf(
          workspaceId,
          prices.map((price, index) => ({ index: from + index, request: { price }, response: { price } })),
          shared,
        ),
        'list',
      );
    await collector.store(chunk(2, [30, 40]));
    await collector.store(chunk(4, [50]), chunk(0, [10, 20]));
    const { data } = await query({ rules: 'list', search: 'response.price >= 30' });
    expect(data).toMatchObject([
      {
        endpoint: '/api/v1/bulk-solve/list/latest',
        request: [10, 20, 30, 40, 50].map((price) => ({ price })),
        response: { results: [10, 20, 30, 40, 50].map((price) => ({ price })) },
        matched_items: [2, 3, 4],
      },
    ]);
    const filtered = await query({ rules: 'list', item_filter: 'request.price < 25' });
    expect(filtered.data).toMatchObject([{ request: [{ price: 10 }, { price: 20 }], matched_items: [0, 1] }]);
    expect(await query({ rules: 'list', count: 'true' })).toEqual({ count: 1 });
    expect(await query({ rules: 'list', item_filter: 'request.price > 50' })).toEqual({ data: [] });
  });

  it('finds by name, kind, status, trace, request, word and time', async () => {
    const trace = 'aaaabbbbccccddddeeeeffff00001111';
    const received_at = new Date(Date.now() - 3_600_000).toISOString();
    await collector.store(
      messageOf(
        logOf(workspaceId, [{ request: { city: 'Reykjavik' } }], { slug: 'by-city', trace_id: trace, received_at }),
      ),
      messageOf(
        logOf(workspaceId, [{ status: 422, code: 'evaluation_failed', response: { error: 'It failed.' } }], {
          slug: 'failing',
          kind: 'flow',
        }),
      ),
    );
    expect(namesOf(await query({ search: 'reykjavik' }))).toEqual(['by-city']);
    expect(namesOf(await query({ search: 'REYKJAVIK OR "It failed."', sort: 'name', order: 'asc' }))).toEqual([
      'by-city',
      'failing',
    ]);
    expect(namesOf(await query({ trace: trace.toUpperCase() }))).toEqual(['by-city']);
    expect(namesOf(await query({ search: trace }))).toEqual(['by-city']);
    expect(namesOf(await query({ rules: 'by-city', flows: 'failing' }))).toEqual(['failing', 'by-city']);
    expect(namesOf(await query({ rules: 'failing' }))).toEqual([]);
    const [failed] = (await query({ statuses: '422,500', flows: 'failing' })).data;
    expect(failed).toMatchObject({ error: 'It failed.', endpoint: '/api/v1/flows/failing/latest' });
    expect(namesOf(await query({ rules: 'by-city', start: received_at }))).toEqual(['by-city']);
    expect(namesOf(await query({ rules: 'by-city', end: received_at }))).toEqual([]);
  });

  it('pages through all decisions once, in every order, while more arrive', async () => {
    const many = Array.from({ length: 23 }, (_, n) =>
      messageOf(
        logOf(workspaceId, [{ ...(n % 3 === 0 ? { status: 422, code: 'evaluation_failed' } : {}) }], {
          slug: `page-${n % 4}`,
          // Several of one moment.
          received_at: new Date(Date.now() - 60_000 - Math.floor(n / 5) * 1_000).toISOString(),
        }),
      ),
    );
    await collector.store(...many);
    for (const sort of ['time', 'name', 'status', 'type'])
      for (const order of ['asc', 'desc']) {
        const parameters = {
          rules: 'page-0,page-1,page-2,page-3',
          sort,
          order,
          limit: '4',
          end: new Date(Date.now() - 30_000).toISOString(),
        };
        const seen: unknown[] = [];
        let cursor: string | undefined;
        do {
          const page = await query({ ...parameters, ...(cursor === undefined ? {} : { cursor }) });
          seen.push(...page.data.map(({ id }) => id));
          cursor = page.cursor;
          await collector.store(messageOf(logOf(workspaceId, [{}], { slug: 'page-0' })));
        } while (cursor !== undefined);
        expect(seen).toHaveLength(23);
        expect(new Set(seen).size).toBe(23);
      }
  }, 60_000);

  it('stores every decision once when messages are repeated', async () => {
    const message = messageOf(logOf(workspaceId, [{}, {}, {}], { slug: 'again' }), 'list');
    expect(await collector.store(message)).toMatchObject({ stored: 3, repeated: 0 });
    expect(await collector.store(message, message)).toMatchObject({ stored: 0, repeated: 6 });
    expect((await query({ rules: 'again' })).data).toMatchObject([{ matched_items: [0, 1, 2] }]);
  });

  it('treats two entries of a parallel request, and two requests with one id, as separate decisions', async () => {
    const shared = { slug: 'parallel', version_id: randomUUID(), request_id: 'chosen-by-the-client' };
    await collector.store(messageOf(logOf(workspaceId, [{}], shared)), messageOf(logOf(workspaceId, [{}], shared)));
    expect(await query({ rules: 'parallel', count: 'true' })).toEqual({ count: 2 });
  });
});

describe('to a key that is restricted to groups', () => {
  it('a query shows and counts only decisions of visible assets, without traces of hidden ones', async () => {
    const hidden = await collector.makeRule('hidden', ['finance']);
    const shown = await collector.makeRule('shown', ['sales']);
    const opaque = await collector.makeFlow('opaque', ['sales'], hidden);
    const open = await collector.makeFlow('open', ['sales'], shown);
    const trace = {
      path_trace: [{ ref: 'secret-node', status: 'ran' }],
      response: { x: 1, $explain: { nodes: ['secret-node'] } },
    };
    await collector.store(
      messageOf(logOf(workspaceId, [{}], { slug: 'hidden', version_id: hidden.versionId })),
      messageOf(logOf(workspaceId, [{}], { slug: 'shown', version_id: shown.versionId })),
      messageOf(logOf(workspaceId, [trace], { slug: 'opaque', kind: 'flow', version_id: opaque })),
      messageOf(logOf(workspaceId, [trace], { slug: 'open', kind: 'flow', version_id: open })),
      messageOf(logOf(workspaceId, [{}], { slug: 'of-nothing' })),
    );
    const key = await collector.makeKey('admin', ['sales']);
    const asked = { include_traces: 'true', sort: 'name', order: 'asc' };
    const { data } = await query(asked, key);
    expect(data.map(({ name, path_trace: path }) => [name, path])).toEqual(
      [
        ['opaque', undefined],
        ['open', trace.path_trace],
        ['shown', undefined],
      ].sort(),
    );
    expect(data.find(({ name }) => name === 'opaque')).toMatchObject({ response: { x: 1 } });
    expect(JSON.stringify(data)).not.toContain('"key_id"');
    expect(await query({ count: 'true' }, key)).toEqual({ count: 3 });
    expect(await query({ search: 'secret-node', count: 'true' }, key)).toEqual({ count: 0 });
    const everything = await query({ ...asked, flows: 'opaque' });
    expect(everything.data).toMatchObject([{ path_trace: trace.path_trace }]);
    const [decision] = (await query({ rules: 'hidden' })).data;
    expect(await collector.get(`/${String(decision?.['id'])}`, {}, key)).toMatchObject({
      status: 404,
      body: { code: 'decision_not_found' },
    });
    const none = await collector.makeKey('admin', ['others']);
    expect(await query({ count: 'true' }, none)).toEqual({ count: 0 });
  });

  it('a query of another workspace finds nothing, and a role without the entitlement is refused', async () => {
    const other = await collector.makeWorkspace('other');
    expect(await query({ count: 'true' }, await collector.makeKey('admin', [], other))).toEqual({ count: 0 });
    expect(await collector.get('/query', {}, await collector.makeKey('viewer'))).toMatchObject({
      status: 403,
      body: { entitlement: 'decisions.read' },
    });
  });
});

describe('a query that is not one', () => {
  it.each([
    ['search', 'request.total >', 'position 15'],
    ['search', '('.repeat(3_000), '50 parentheses'],
    ['search', 'x'.repeat(5_000), 'at most 4096'],
    ['item_filter', 'total = 1', 'item_filter'],
    ['limit', '0', 'from 1 to 1000'],
    ['limit', '-1', 'limit'],
    ['limit', '1e9', 'limit'],
    ['limit', '1001', 'from 1 to 1000'],
    ['start', '0000-01-01T00:00:00Z', 'start'],
    ['start', '2026-01-01T00:00:00+16:00', 'start'],
    ['end', 'yesterday', 'end'],
    ['statuses', '200,abc', 'statuses'],
    ['trace', 'x', 'trace'],
    ['sort', 'price', 'sort'],
    ['cursor', 'eyJ', 'cursor'],
    ['cursor', '%', 'cursor'],
    ['rules', 'a,,b', 'empty name'],
    ['count', 'maybe', 'count'],
    ['nothing', '1', 'nothing'],
  ])('is refused: %s %s', async (name, value, reason) => {
    const { status, body } = await collector.get('/query', { [name]: value });
    expect({ status, code: body['code'] }).toEqual({ status: 400, code: 'invalid_request' });
    expect(JSON.stringify(body)).toContain(reason);
  });

  it('is refused if the start is not before the end, or the cursor is of another query', async () => {
    const moment = '2026-01-01T00:00:00Z';
    expect(await collector.get('/query', { start: moment, end: moment })).toMatchObject({ status: 400 });
    await collector.store(messageOf(logOf(workspaceId, [{}])), messageOf(logOf(workspaceId, [{}])));
    const { cursor = '' } = await query({ limit: '1' });
    expect((await collector.get('/query', { limit: '2', cursor })).status).toBe(200);
    const other = await collector.makeKey('admin', [], await collector.makeWorkspace('foreign'));
    for (const answer of [
      await collector.get('/query', { rules: 'x', cursor }),
      await collector.get('/query', { order: 'asc', cursor }),
      await collector.get('/query', { cursor: cursor.slice(0, -3) }),
      await collector.get('/query', { cursor }, other),
    ])
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  });

  it.each([
    `request."x" = 1`,
    `name = "'; drop table decision_log; --"`,
    `request.a'b = "\\" ? (1 == 1)"`,
    `request.$.** > 0`,
    `"$number" OR ":search_1" OR :a`,
    'request.x = 99999999999999999999',
    'request.x > 0.000000000000000000001',
    `request.x : "%_\\\\"`,
    '"\u0001" OR "\ud83d\ude00"',
  ])('is harmless if it contains SQL or a path: %s', async (search) => {
    const { status } = await collector.get('/query', { search });
    expect([200, 400]).toContain(status);
    expect((await query({ count: 'true' })).count).toBeGreaterThan(0);
  });

  it('answers 404 for ids of nothing', async () => {
    for (const id of ['x', randomUUID(), 'ffffffff-ffff-8000-a000-000000000000', "'"])
      expect(await collector.get(`/${encodeURIComponent(id)}`)).toMatchObject({ status: 404 });
  });
});

describe('hostile questions', () => {
  const deep = (depth: number): string => `${'('.repeat(depth)}a${')'.repeat(depth)}`;

  it.each([
    ['10,000 parentheses within each other', '/query', { search: deep(10_000) }, [400]],
    ['parentheses, in an export', '/export', { search: deep(1_000) }, [400]],
    ['parentheses, in a summary', '/summary', { search: deep(1_000) }, [400]],
    ['a megabyte', '/query', { search: 'x'.repeat(1_048_576) }, [431]],
    ['U+0000', '/query', { search: 'a\u0000b' }, [400]],
    ['a year of five digits', '/query', { start: '10000-01-01T00:00:00Z' }, [400]],
    ['the last year', '/query', { start: '9999-12-31T23:59:59Z' }, [200]],
    [
      'the last year, in a summary',
      '/summary',
      { start: '9999-12-31T00:00:00Z', end: '9999-12-31T23:59:59Z' },
      [200, 400],
    ],
    ['the first year', '/query', { start: '0001-01-01T00:00:00Z' }, [200]],
    ['an end before a day can be taken from it', '/summary', { end: '0001-01-01T00:00:00Z' }, [200]],
    ['the same, in an export', '/export', { end: '0001-01-01T00:00:00Z' }, [200]],
    ['a first year that begins in the year before', '/query', { start: '0001-01-01T00:00:00+14:00' }, [400]],
    ['a last year that ends in the next', '/query', { start: '9999-12-31T23:59:59-14:00' }, [400]],
    ['99 hours from UTC', '/export', { end: '2026-01-01T00:00:00+99:00' }, [400]],
    ['an end in the far past, in an export', '/export', { end: '1970-01-01T00:00:00Z' }, [200]],
    ['numbers beyond doubles', '/query', { search: `request.n = 1${'0'.repeat(400)}` }, [200, 400]],
    ['an exponent beyond doubles', '/query', { search: 'request.n > 1e999999' }, [200, 400]],
    ['names of columns', '/query', { search: 'request.workspace_id = 1 OR response.constructor = 1' }, [200]],
    ['101 words', '/query', { search: 'a '.repeat(101) }, [400]],
    ['101 names', '/query', { rules: Array.from({ length: 101 }, (_, n) => `r${n}`).join(',') }, [400]],
  ] as const)('are answered with an error, or with nothing found: %s', async (_name, path, parameters, statuses) => {
    const { status } = await collector.get(path, parameters);
    expect(statuses).toContain(status);
  });

  it('a decision with 10,000 inputs whose keys are names of columns is found by one of them, and read whole', async () => {
    const items = Array.from({ length: 10_000 }, (_, n) => ({
      request: { workspace_id: n, decided_at: 'x', '$.**': 1, __proto__x: '\ud83d' },
      response: { id: n },
    }));
    await collector.store(messageOf(logOf(workspaceId, items, { slug: 'ten-thousand' }), 'list'));
    const { data } = await query({ rules: 'ten-thousand', search: 'request.workspace_id = 9999' });
    expect(data).toMatchObject([{ matched_items: [9_999], abbreviated: true }]);
    expect(data[0]?.['request']).toHaveLength(10_000);
  }, 60_000);

  it('that take the database too long get a faster alternative', async () => {
    const slow = openTableStore({
      inWorkspace: (access, work) =>
        collector.database.inWorkspace(access, async (transaction) => {
          await transaction.raw('set local statement_timeout = 50');
          await transaction.raw('select pg_sleep(5)');
          return work(transaction);
        }),
    });
    await expect(slow.ask(collector.access, (answers) => answers.count({}))).rejects.toMatchObject({
      code: 'deadline_exceeded',
      message: expect.stringContaining('"start" and "end"') as unknown,
    });
  });
});

it('reading is in the audit, with the query', async () => {
  await query({ search: 'audited-search', limit: '5' });
  const rows = await collector.database.inWorkspace(collector.access, (transaction) =>
    transaction.raw<{ rows: { after: unknown; actor: string }[] }>(
      `select after, actor from audit_entries where kind = 'decision' and action = 'read' and cast(after as text) like '%audited-search%'`,
    ),
  );
  expect(rows.rows).toMatchObject([{ after: { search: 'audited-search', limit: '5', found: { decisions: 0 } } }]);
});
