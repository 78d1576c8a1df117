import { Client, DatabaseError } from 'pg';
import { valueParsers } from '../../src/connection/parse-instant';
import { sendStatement, StatementSkipped } from '../../src/connection/statement-batch';
import { type BoundStatement } from '../../src/connection/query';
import { openTestWorkspace, type TestWorkspace } from '../test-workspace';

let workspace: TestWorkspace;
const clients: Client[] = [];

beforeAll(async () => {
  workspace = await openTestWorkspace('batches');
});
afterAll(async () => {
  for (const client of clients) await client.end();
  await workspace.close();
});

const connect = async (pipeline: boolean): Promise<Client> => {
  const client = new Client({ connectionString: workspace.url, pipeline });
  clients.push(client);
  await client.connect();
  return client;
};

const statement = (text: string, values: BoundStatement['values'] = [], name?: string): BoundStatement => ({
  text,
  values,
  name,
});

/** Messages that came while some work ran, by their kind. */
const messagesDuring = async (client: Client, kind: string, work: () => Promise<unknown>): Promise<number> => {
  let count = 0;
  const seen = (): void => void (count += 1);
  client.connection.on(kind, seen);
  await work();
  client.connection.off(kind, seen);
  return count;
};

describe('a pipelined connection', () => {
  let client: Client;
  const send = (...given: Parameters<typeof statement>) => sendStatement(client, statement(...given));
  const rowsOf = async (...given: Parameters<typeof statement>) => (await send(...given)).rows;

  beforeAll(async () => {
    client = await connect(true);
  });

  it('answers each statement of a turn with its own rows and command, in one piece', async () => {
    const all = () =>
      Promise.all([
        send('begin'),
        send('create temporary table points (x integer, seen timestamptz) on commit drop'),
        send('insert into points values ($1, $2), ($3, null)', [1, '2026-01-31T09:30:00Z', 2]),
        send('select x, seen from points order by x'),
        send('select 1 as one where false'),
        send('commit'),
      ]);
    const ends = await messagesDuring(client, 'readyForQuery', async () => {
      const answers = await all();
      expect(answers.map(({ command }) => command)).toEqual([
        'BEGIN',
        'CREATE',
        'INSERT',
        'SELECT',
        'SELECT',
        'COMMIT',
      ]);
      expect(answers.map(({ rows }) => rows)).toEqual([
        [],
        [],
        [],
        [
          { x: 1, seen: new Date('2026-01-31T09:30:00Z') },
          { x: 2, seen: null },
        ],
        [],
        [],
      ]);
    });
    expect(ends).toBe(1);
  });

  it('answers statements of later turns too, while earlier ones are still under way', async () => {
    const first = send('select pg_sleep(0.05), $1::text as name', ['first']);
    await new Promise(setImmediate);
    const second = send('select $1::text as name', ['second']);
    expect((await second).rows).toEqual([{ name: 'second' }]);
    expect((await first).rows).toMatchObject([{ name: 'first' }]);
  });

  it.each([
    ['text', 'Ünï "quoted" \\ {a,b}', 'text'],
    ['an empty text', '', 'text'],
    ['null', null, 'text'],
    ['a number', -1.5e-7, 'float8'],
    ['true', true, 'boolean'],
    ['false', false, 'boolean'],
    ['no elements', [], 'text[]'],
    ['elements', ['', 'NULL', 'a,b', '{}', '"', '\\', '\\"', ' c ', 'ü\n'], 'text[]'],
  ])('takes %s as a value, and answers it', async (_, value, type) => {
    expect(await rowsOf(`select cast($1 as ${type}) as value`, [value])).toEqual([{ value }]);
  });

  it('fails with the error of the statement that failed; those before it are answered, those after it are skipped', async () => {
    const [before, failing, after, last] = await Promise.allSettled([
      send('select 1 as one'),
      send('select 1 / $1::integer', [0]),
      send('select 2 as two'),
      send('select 3 as three', [], 'skipped_at_first'),
    ]);
    expect(before).toMatchObject({ status: 'fulfilled', value: { rows: [{ one: 1 }] } });
    const { reason } = failing as PromiseRejectedResult;
    expect(reason).toBeInstanceOf(DatabaseError);
    expect(reason).toMatchObject({ code: '22012' });
    for (const skipped of [after, last]) {
      expect((skipped as PromiseRejectedResult).reason).toBeInstanceOf(StatementSkipped);
      expect((skipped as PromiseRejectedResult).reason).toMatchObject({ cause: reason });
    }
    expect(await rowsOf('select 3 as three', [], 'skipped_at_first')).toEqual([{ three: 3 }]);
  });

  it('prepares a named statement once, and describes it once', async () => {
    const ask = (n: number) => rowsOf('select $1::integer as n, now() as at', [n], 'often');
    const run = async (): Promise<void> => {
      expect(await ask(1)).toEqual([{ n: 1, at: expect.any(Date) as Date }]);
      expect(await ask(2)).toEqual([{ n: 2, at: expect.any(Date) as Date }]);
    };
    expect(await messagesDuring(client, 'parseComplete', run)).toBe(1);
    expect(await messagesDuring(client, 'rowDescription', run)).toBe(0);
    expect(await messagesDuring(client, 'parseComplete', run)).toBe(0);
  });

  it('prepares a named statement again after it failed, or was sent twice before its answer', async () => {
    const divide = (by: number) => send('select 6 / $1::integer as n', [by], 'divide');
    await expect(divide(0)).rejects.toMatchObject({ code: '22012' });
    const all = await Promise.all([divide(1), divide(2), new Promise(setImmediate).then(() => divide(3))]);
    expect(all.map(({ rows }) => rows)).toEqual([[{ n: 6 }], [{ n: 3 }], [{ n: 2 }]]);
    await expect(divide(0)).rejects.toMatchObject({ code: '22012' });
    expect((await divide(6)).rows).toEqual([{ n: 1 }]);
  });

  it('fails a statement without text, and what was sent with it, and goes on', async () => {
    const [empty, other] = await Promise.allSettled([send(''), send('select 1 as one')]);
    expect([empty.status, other.status]).toEqual(['fulfilled', 'rejected']);
    expect(await rowsOf('select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('fails what is committed with its statement if the commit fails', async () => {
    await rowsOf('create temporary table once (n integer unique deferrable initially deferred)');
    const twice = send('insert into once values (1), (1)');
    await expect(twice).rejects.toMatchObject({ code: '23505' });
    expect(await rowsOf('select * from once')).toEqual([]);
  });

  it('refuses several statements in one text, and goes on', async () => {
    await expect(send('select 1; select 2')).rejects.toMatchObject({ code: '42601' });
    expect(await rowsOf('select 1 as one')).toEqual([{ one: 1 }]);
  });
});

it('fails a statement whose rows cannot be read, and only that one', async () => {
  const client = await connect(true);
  const parsers = jest.spyOn(valueParsers, 'getTypeParser');
  parsers.mockImplementation((): never => {
    const parse = (text: string): string => {
      if (text === 'wrong') throw new RangeError('unreadable');
      return text;
    };
    return parse as never;
  });
  const [unread, read] = await Promise.allSettled(
    [`values ('right'), ('wrong')`, `select 'right' as word`].map((text) => sendStatement(client, statement(text))),
  );
  parsers.mockRestore();
  expect(unread).toMatchObject({ status: 'rejected', reason: { message: 'A row could not be read.' } });
  expect(read).toMatchObject({ status: 'fulfilled', value: { rows: [{ word: 'right' }] } });
});

it('answers the statements of a turn in one piece on a connection that is not pipelined too', async () => {
  const client = await connect(false);
  const ends = await messagesDuring(client, 'readyForQuery', async () => {
    const texts = ['begin', 'select 1 as one', 'commit'];
    const answers = await Promise.all(texts.map((text) => sendStatement(client, statement(text))));
    expect(answers.map(({ rows }) => rows)).toEqual([[], [{ one: 1 }], []]);
  });
  expect(ends).toBe(1);
});

it('fails everything that was sent when the connection is lost, and what is sent afterwards', async () => {
  const client = await connect(true);
  client.on('error', () => undefined);
  const sent = [sendStatement(client, statement('select pg_sleep(30)')), sendStatement(client, statement('select 1'))];
  await new Promise(setImmediate);
  const settled = Promise.allSettled(sent);
  client.connection.stream.destroy();
  for (const result of await settled)
    expect((result as PromiseRejectedResult).reason).toMatchObject({ message: /^Connection terminated/ });
  await expect(sendStatement(client, statement('select 1'))).rejects.toThrow(
    /^Client has encountered a connection error/,
  );
});

it('gives up a statement that the server does not answer in the time limit of the client', async () => {
  const client = new Client({ connectionString: workspace.url, pipeline: true, query_timeout: 100 });
  client.on('error', () => undefined);
  await client.connect();
  const both = [sendStatement(client, statement('select pg_sleep(30)')), sendStatement(client, statement('select 1'))];
  for (const result of await Promise.allSettled(both))
    expect((result as PromiseRejectedResult).reason).toMatchObject({ message: 'Query read timeout' });
});
