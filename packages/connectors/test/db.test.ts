import { Secret } from '@decision/flows';
import { testStack, waitUntil } from '@decision/local-stack';
import { Client } from 'pg';
import { type Connectors, createConnectors, createDbConnector, type NodeOutputs } from '../src';
import { callOf, runOf } from './support';

const url = new URL(testStack().databaseUrl);
const LOCAL = [url.hostname];

const open = (options: Partial<Parameters<typeof createDbConnector>[0]> = {}): Connectors =>
  createConnectors({ connectors: [createDbConnector({ allowedHosts: LOCAL, ...options })], random: () => 0 });

const connectors = open();
const small = open({ maxRows: 3, maxBytes: 20_000, timeoutMs: 2_000 });
const admin = new Client({ connectionString: url.href });
const table = `flow_db_${process.pid}`;

beforeAll(async () => {
  await admin.connect();
  await admin.query(`create table ${table} (id int, name text)`);
  await admin.query(`insert into ${table} values (1, 'Ada'), (2, 'Bob')`);
});
afterAll(async () => {
  await Promise.all([connectors.stop(), small.stop()]);
  await admin.query(`drop table ${table}`);
  await admin.end();
});

interface Asking {
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly by?: Connectors;
}

const ask = (query: string, { inputs = {}, fields = {}, by = connectors }: Asking = {}): Promise<NodeOutputs> =>
  by.callFor(runOf())(callOf('db', { connectionString: url.href, query, ...fields }, { inputs }));

describe('inputs', () => {
  it('CN-60: are parameters, by name, wherever a value is allowed', async () => {
    const inputs = { id: 1, name: "x'; drop table t; --", list: ['a', 'b'], customer: { id: 7 }, flag: true };
    const query =
      "select :id::int as id, {{ name }} as name, 'b' = any(:list) as listed, :customer.id::int as c, :flag::bool as f, :none::text as n, :customer::jsonb as o";
    await expect(ask(query, { inputs })).resolves.toEqual({
      rows: [{ id: 1, name: inputs.name, listed: true, c: 7, f: true, n: null, o: { id: 7 } }],
    });
  });

  it('CN-60: are found only outside texts, quoted names and comments', async () => {
    const query = `select ':a' as "x:a", E'\\':a' as b, $q$ :a {{a}} $q$ as c, $$:a$$ as d, '1'::int as e, :a::int as f -- :a
      /* :a */`;
    await expect(ask(query, { inputs: { a: 5 } })).resolves.toEqual({
      rows: [{ 'x:a': ':a', b: "':a", c: ' :a {{a}} ', d: ':a', e: 1, f: 5 }],
    });
    await expect(ask("select '{{a}}'", { inputs: { a: 5 } })).rejects.toThrow(/inside quotes/);
    await expect(ask("select 'a")).rejects.toThrow(/not closed/);
  });
});

describe('statements', () => {
  it.each(['select 1; select 2', `select 1; drop table ${table}`, `commit; drop table ${table}`])(
    'CN-61: refuses several: %s',
    async (query) => {
      await expect(ask(query)).rejects.toThrow(/42601/);
      await expect(ask(query, { fields: { readOnly: false } })).rejects.toThrow(/42601/);
    },
  );

  it('CN-62: write only if the node says so', async () => {
    const insert = `insert into ${table} values (:id, 'new') returning id`;
    await expect(ask(insert, { inputs: { id: 3 } })).rejects.toThrow(/read-only transaction/);
    await expect(ask(insert, { inputs: { id: 3 }, fields: { readOnly: false } })).resolves.toEqual({
      rows: [{ id: 3 }],
    });
    await expect(ask(`select count(*) as n from ${table}`)).resolves.toEqual({ rows: [{ n: 3 }] });
  });
});

describe('bounds', () => {
  it('CN-63: end a query that takes too long or answers too much', async () => {
    const began = Date.now();
    await expect(ask('select pg_sleep(60)', { by: small })).rejects.toMatchObject({ outcome: 'timeout' });
    expect(Date.now() - began).toBeLessThan(10_000);
    await expect(ask('select generate_series(1, 3) as n', { by: small })).resolves.toMatchObject({
      rows: [{ n: 1 }, { n: 2 }, { n: 3 }],
    });
    await expect(ask('select generate_series(1, 1000000)', { by: small })).rejects.toThrow(/more than 3 rows/);
    await expect(ask("select repeat('x', 2000000)", { by: small })).rejects.toThrow(/more than 20000 bytes/);
    await expect(ask('select 1 as one', { by: small })).resolves.toEqual({ rows: [{ one: 1 }] });
  });
});

describe('values', () => {
  it('CN-64: become JSON without loss', async () => {
    const query = `select 1.50 as exact, 0.1234567890123456789 as long, 9007199254740993::int8 as big, 5::int8 as small, 'NaN'::float8 as nan,
      date '2026-01-02' as day, timestamptz '2026-01-02 03:04:05+02' as at, timestamp '2026-01-02 03:04:05' as local, interval '1 day' as span,
      '\\x0102'::bytea as bytes, array[1.5, 2] as list, array[date '2026-01-02'] as days, '{"a": [1]}'::jsonb as json, null as nothing`;
    await expect(ask(query, { fields: { outputs: [{ key: 'small' }, { key: 'missing' }] } })).resolves.toEqual({
      small: 5,
      rows: [
        {
          ...{ exact: 1.5, long: '0.1234567890123456789', big: '9007199254740993', small: 5, nan: 'NaN' },
          ...{ day: '2026-01-02', at: '2026-01-02T01:04:05Z', local: '2026-01-02T03:04:05', span: '1 day' },
          ...{ bytes: 'AQI=', list: [1.5, 2], days: ['2026-01-02'], json: { a: [1] }, nothing: null },
        },
      ],
    });
  });
});

describe('addresses', () => {
  it('CN-65: come from the document or a secret, and appear in no error', async () => {
    const secret = new Secret('url', url.href);
    const fields = { connectionString: '{{url}}' };
    await expect(ask('select 1 as one', { fields, inputs: { url: secret } })).resolves.toEqual({ rows: [{ one: 1 }] });
    await expect(ask('select 1', { fields, inputs: { url: url.href } })).rejects.toThrow(/no secret of a vault/);
    await expect(ask('select :url::text as u', { fields, inputs: { url: secret } })).resolves.toEqual({
      rows: [{ u: '[secret]' }],
    });
    const wrong = new URL(url);
    wrong.password = 'marker-51d2';
    wrong.username = 'marker-user';
    for (const [text, expected] of [
      [wrong.href, /login to the database failed \(28/],
      [`${wrong.href}?sslrootcert=/etc/marker-51d2`, /parameter other than sslmode/],
      ['marker-51d2', /cannot be read/],
      ['mysql://marker-51d2:marker-51d2@host/marker-51d2', /does not begin with postgresql/],
      [`${url.href}?sslmode=verify-full`, /login to the database failed/],
    ] as const) {
      const error = await ask('select 1', { fields: { connectionString: text } }).catch((cause: unknown) => cause);
      expect((error as Error).message).toMatch(expected);
      expect(`${String((error as Error).stack)}${JSON.stringify(error)}`).not.toContain('marker');
    }
  });

  it('CN-66: are refused if they are private and not allowed', async () => {
    const guarded = open({ allowedHosts: [], lookup: () => Promise.resolve([{ address: '10.0.0.1' }]) });
    for (const host of ['127.0.0.1', '[::ffff:127.0.0.1]', '2130706433', 'inner.example', '169.254.169.254'])
      await expect(
        ask('select 1', { by: guarded, fields: { connectionString: `postgresql://u:p@${host}:5432/d` } }),
      ).rejects.toMatchObject({
        outcome: 'refused',
        message: expect.stringMatching(/FLOW_DB_ALLOWED_HOSTS/) as string,
      });
    await guarded.stop();
  });
});

describe('connections', () => {
  it('CN-67: are bounded, and each is returned in its original state', async () => {
    const pids = await Promise.all(
      Array.from({ length: 12 }, () => ask('select pg_backend_pid() as pid, pg_sleep(0.02)::text as s')),
    );
    const distinct = new Set(pids.map(({ rows }) => (rows as { pid: number }[])[0]?.pid));
    expect(distinct.size).toBeLessThanOrEqual(4);
    await ask("select set_config('search_path', 'nowhere', false), pg_advisory_lock(1)", {
      fields: { readOnly: false },
    });
    const seen = await Promise.all(
      Array.from({ length: 8 }, () => ask("select current_setting('search_path') as path")),
    );
    expect(seen.flatMap(({ rows }) => rows as { path: string }[]).filter(({ path }) => path === 'nowhere')).toEqual([]);
  });

  it('CN-67: are closed when the request is aborted', async () => {
    const abort = new AbortController();
    const call = callOf(
      'db',
      { connectionString: url.href, query: "select pg_sleep(60), 'flow-abort-mark'" },
      { signal: abort.signal },
    );
    const asking = connectors
      .callFor(runOf())(call)
      .catch((error: unknown) => error);
    const running = async (): Promise<number> =>
      (
        await admin.query(
          "select 1 from pg_stat_activity where query like '%flow-abort-mark%' and pid <> pg_backend_pid()",
        )
      ).rowCount ?? 0;
    await waitUntil(async () => (await running()) > 0);
    abort.abort();
    await expect(asking).resolves.toMatchObject({ outcome: 'abandoned' });
    await expect(ask('select 1 as one')).resolves.toEqual({ rows: [{ one: 1 }] });
  });
});
