import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createApiKey,
  type Database,
  dropDatabase,
  ensureWorkspace,
  findValues,
  listAudit,
  openDatabase,
} from '@decision/persistence';
import { createMigratedDatabase } from '@decision/persistence/testing';
import { testStack, waitUntil } from '@decision/local-stack';
import { generateApiKey } from '@decision/service-kit';
import { type ObjectsApiProcess, startObjectsApiProcess } from '../objects-api-process';

jest.setTimeout(180_000);

const CHUNKS = 12;
const CHUNK_SIZE = 1_000;
const SEED = Number(process.env['TEST_SEED']);

const stack = testStack();
const name = stack.uniqueName('killed');
let url: string;
let database: Database;
let access: { readonly workspaceId: string; readonly userGroups: undefined };
let key: string;
let service: ObjectsApiProcess;

beforeAll(async () => {
  url = await createMigratedDatabase(stack.databaseUrl, name);
  database = openDatabase({ url, applicationName: 'killing-test' });
  access = { workspaceId: (await ensureWorkspace(url, { slug: 'main', name: 'Main' })).id, userGroups: undefined };
  const { apiKey, selector, secretHash } = generateApiKey(randomBytes);
  key = apiKey;
  await database.inWorkspace(access, (transaction) =>
    createApiKey(transaction, { selector, secretHash, name: 'K', role: 'admin', userGroups: [], expiresAt: null }),
  );
  service = await startObjectsApiProcess(url);
});
afterAll(async () => {
  await service.kill();
  await database.close();
  await dropDatabase(stack.databaseUrl, name);
});

type Counts = Readonly<Record<'created' | 'updated' | 'unchanged' | 'archived', number>>;
const post = async (body: object): Promise<Counts> => {
  const response = await fetch(`${service.baseUrl}/api/v1/values/sync`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  });
  const answer = (await response.json()) as Counts;
  expect({ status: response.status, answer }).toMatchObject({ status: 200 });
  return answer;
};
const killAndRestart = async (): Promise<void> => {
  await service.kill();
  service = await startObjectsApiProcess(url);
};

/** All active members of a collection, by name. */
const members = (collection: string): Promise<Readonly<Record<string, unknown>>> =>
  database.inWorkspace(access, async (transaction) => {
    const { rows } = await transaction.raw<{ rows: { name: string; content: unknown }[] }>(
      `select name, content from workspace_values where starts_with(name, :prefix) and archived_at is null`,
      { prefix: `${collection}.` },
    );
    return Object.fromEntries(rows.map((row) => [row.name.slice(collection.length + 1), row.content]));
  });

const chunkOf = (index: number): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Array.from({ length: CHUNK_SIZE }, (_, at) => [`m${index * CHUNK_SIZE + at}`, index]));
const wanted = Object.assign({}, ...Array.from({ length: CHUNKS }, (_, index) => chunkOf(index))) as Readonly<Record<string, unknown>>; // prettier-ignore

/** A sequence of numbers from 0 up to 1 that depends only on the seed. */
const randomFrom = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

it(`a synchronisation whose service is killed again and again ends with the exact list (seed ${SEED})`, async () => {
  const random = randomFrom(SEED);
  const collection = 'random';
  await post({ collection, values: { stale: 1, m0: 'old' } });
  let killed = 0;
  const bring = async (chunk: object): Promise<void> => {
    for (let attempt = 0; ; attempt += 1) {
      const sent = post(chunk).then(
        () => true,
        () => false,
      );
      // Up to two kills per chunk, at any moment from before its arrival to after its answer.
      const shallKill = attempt < 2 && random() < 0.35;
      if (shallKill) {
        await sleep(random() * 120);
        await killAndRestart();
        killed += 1;
      }
      if (await sent) return;
    }
  };
  for (let index = 0; index < CHUNKS; index += 1)
    await bring({ collection, sync_id: 'run', values: chunkOf(index), complete: index === CHUNKS - 1 });
  expect(killed).toBeGreaterThan(0);
  expect(await members(collection)).toEqual(wanted);
});

it('killed between two chunks it goes on where it was: what is brought again is unchanged', async () => {
  const collection = 'between';
  await post({ collection, values: { stale: 1 } });
  expect(await post({ collection, sync_id: 'run', values: chunkOf(0) })).toMatchObject({ created: CHUNK_SIZE });
  await killAndRestart();
  expect(await post({ collection, sync_id: 'run', values: chunkOf(0) })).toMatchObject({ unchanged: CHUNK_SIZE });
  const last = { collection, sync_id: 'run', values: chunkOf(1), complete: true };
  expect(await post(last)).toMatchObject({ created: CHUNK_SIZE, archived: 1 });
  await killAndRestart();
  expect(await post(last)).toMatchObject({ already_completed: true });
  expect(await members(collection)).toEqual({ ...chunkOf(0), ...chunkOf(1) });
});

it('killed within a chunk, half of which it had written, it leaves nothing of the chunk, nor of its trace', async () => {
  const collection = 'within';
  await post({ collection, values: { part: 'p', whole: ['x'] } });
  const chunk = { collection, sync_id: 'run', values: { ...chunkOf(0), part: 'p', whole: [{ $ref: 'within.part' }] } };
  await database.inWorkspace(access, async (transaction) => {
    // The plain members are written before lists that refer to others, and this list has to wait.
    await findValues(transaction, { ids: [], names: ['within.whole'] }, 'change');
    const sent = post(chunk).then(
      () => 'answered',
      () => 'cut off',
    );
    const waits = `select 1 from pg_locks where not granted and locktype in ('tuple', 'transactionid')`;
    const isWaiting = async () => (await transaction.raw<{ rows: unknown[] }>(waits)).rows.length > 0;
    await waitUntil(isWaiting);
    await service.kill();
    expect(await sent).toBe('cut off');
  });
  service = await startObjectsApiProcess(url);
  expect(await members(collection)).toEqual({ part: 'p', whole: ['x'] });
  expect(await post(chunk)).toMatchObject({ created: CHUNK_SIZE, updated: 1 });
  expect(await post({ collection, sync_id: 'run', complete: true })).toMatchObject({ archived: 0 });
  expect(Object.keys(await members(collection))).toHaveLength(CHUNK_SIZE + 2);
  const left = await database.inWorkspace(access, (transaction) =>
    listAudit(transaction, { subjectId: collection }, { limit: 10 }),
  );
  expect(left.entries.filter(({ after }) => (after as { syncId: unknown }).syncId === 'run')).toHaveLength(1);
});
