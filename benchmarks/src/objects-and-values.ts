import { ensureWorkspace } from '@decision/persistence';
import { range, row, runBesideSql, type Send, timed } from './beside-sql';
import { openRawValues, type RawValues } from './raw-values';
import { say } from './service-under-test';

/** Saving objects and synchronising values over HTTP, compared with the SQL that it needs, in turns within one run. */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const MEMBERS = 10_000;
const VALUES = 100_000;
const CHUNK = 20_000;

const emptyRows = () => ({
  create: row(`save an object of ${MEMBERS} members`),
  same: row('save it again, unchanged'),
  syncNew: row(`synchronise ${VALUES} new values in chunks of ${CHUNK}`),
  syncSame: row('synchronise them again, unchanged'),
});
type Rows = ReturnType<typeof emptyRows>;

const measureObject = async (send: Send, raw: RawValues, round: number, rows: Rows): Promise<void> => {
  const members = range(MEMBERS).map((index) => `member ${index}`);
  const field = `object${round}`;
  const content = JSON.stringify({ type: 'object', properties: { [field]: { enum: members } } });
  const save = (): Promise<unknown> => send('PUT', '/objects', { name: field, content });
  const names = members.map((member) => `${field}.${member}`);
  await timed(rows.create.sql, () => raw.insert([...names, field], [...members, 1]));
  await timed(rows.create.http, save);
  await timed(rows.same.sql, () => raw.compare(names, members));
  await timed(rows.same.http, save);
};

const measureSync = async (send: Send, raw: RawValues, round: number, rows: Rows): Promise<void> => {
  const collection = `sync${round}`;
  const chunks = range(VALUES / CHUNK).map((chunk) => range(CHUNK, chunk * CHUNK));
  const sync = async (syncId: string): Promise<void> => {
    for (const [index, chunk] of chunks.entries()) {
      const values = Object.fromEntries(chunk.map((number) => [`m${number}`, number]));
      const complete = index === chunks.length - 1;
      await send('POST', '/values/sync', { collection, values, sync_id: syncId, complete });
    }
  };
  const inSql = async (write: RawValues['insert'] | RawValues['compare']): Promise<void> => {
    for (const chunk of chunks) await write(chunk.map((number) => `${collection}.m${number}`), chunk); // prettier-ignore
  };
  await timed(rows.syncNew.sql, () => inSql(raw.insert));
  await timed(rows.syncNew.http, () => sync('first'));
  await timed(rows.syncSame.sql, () => inSql(raw.compare));
  await timed(rows.syncSame.http, () => sync('second'));
};

runBesideSql(async (send, databaseUrl) => {
  const { id: baseline } = await ensureWorkspace(databaseUrl, { slug: 'baseline', name: 'Baseline' });
  const raw = openRawValues(databaseUrl, baseline);
  const rows = emptyRows();
  for (let round = 0; round < ROUNDS; round += 1) {
    await measureObject(send, raw, round, rows);
    await measureSync(send, raw, round, rows);
    say(`round ${round + 1} of ${ROUNDS}`);
  }
  await raw.close();
  return rows;
});
