import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo } from 'node:net';
import { openNotifications } from '@decision/connectors';
import { createNotificationStore } from '@decision/infrastructure';
import { testStack, waitUntil } from '@decision/local-stack';
import { type Database, dropDatabase, ensureWorkspace, openDatabase } from '@decision/persistence';
import { createMigratedDatabase } from '@decision/persistence/testing';
import { connectorSettings, createLogger, createMetrics, createStopper, readConfig } from '@decision/service-kit';

type Store = ReturnType<typeof createNotificationStore>;

let databaseName: string;
let database: Database;
let url: string;
let store: Store;
let workspaceId: string;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  databaseName = testStack().uniqueName('notifications');
  url = await createMigratedDatabase(testStack().databaseUrl, databaseName);
  ({ id: workspaceId } = await ensureWorkspace(url, { slug: 'ours', name: 'Ours' }));
  database = openDatabase({ url, applicationName: 'notifications-test', poolMax: 6 });
  store = createNotificationStore(database);
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(async () => {
  await database.close();
  await dropDatabase(testStack().databaseUrl, databaseName);
});

interface Seen {
  readonly id: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver of webhooks that answers each with a status; it records the most that were open at once. */
const startReceiver = async (statusOf: (seen: readonly Seen[]) => number, delayMs = 0) => {
  const seen: Seen[] = [];
  let open = 0;
  const most = { open: 0 };
  const server = createServer((request, response) => {
    open += 1;
    most.open = Math.max(most.open, open);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { headers } = request;
      seen.push({ id: String(headers['webhook-id']), headers, body: Buffer.concat(chunks).toString() });
      setTimeout(() => {
        open -= 1;
        response.statusCode = statusOf(seen);
        response.end();
      }, delayMs);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  // The server listens on TCP, so its address has this form.
  const { port } = server.address() as AddressInfo;
  return { seen, most, url: `http://127.0.0.1:${port}/hook` };
};

const write = (target: string, ids: readonly string[], workspace = workspaceId): Promise<void> =>
  store.write(
    workspace,
    ids.map((id) => ({
      ...{ id, channel: 'webhook' },
      content: JSON.stringify({ url: target, headers: {}, body: JSON.stringify({ id, message: 'marker-of-content' }) }),
    })),
  );

/** The sending part of a worker, with the given store, and its log lines. */
const startWorker = (changes: Partial<Store> = {}, environment: Record<string, string> = {}) => {
  const lines: string[] = [];
  const logger = createLogger({
    service: 'test',
    level: 'info',
    destination: { write: (line: string) => void lines.push(line) },
  });
  const metrics = createMetrics('test');
  const stopper = createStopper();
  const config = readConfig(connectorSettings, { FLOW_NOTIFICATION_ALLOWED_HOSTS: '127.0.0.1', ...environment });
  const sender = openNotifications({ ...store, ...changes }, { config, logger, metrics, stopper });
  closing.push(() => sender.stop(1_000));
  return { sender, lines, metrics };
};
const unsent = async () => {
  const { waiting, failed } = await store.count();
  return { waiting, failed };
};
const nothingWaits = async (): Promise<boolean> => (await store.count()).waiting === 0;

it('CN-155: sends what was written, soon after a wake, once by several workers, and nothing that was written before', async () => {
  const receiver = await startReceiver(() => 204);
  const [worker] = [startWorker(), startWorker()];
  const ids = Array.from({ length: 40 }, (_, index) => `first-${index}`);
  const began = Date.now();
  await write(receiver.url, ids);
  worker.sender.wake();
  await waitUntil(nothingWaits);
  expect(Date.now() - began).toBeLessThan(10_000);
  expect(receiver.seen.map(({ id }) => id).sort()).toEqual([...ids].sort());
  // The same steps again, as after a redelivered message.
  await write(receiver.url, ids);
  expect(await unsent()).toEqual({ waiting: 0, failed: 0 });
});

it('CN-156: sends what a worker left that was killed behind the commit', async () => {
  const receiver = await startReceiver(() => 200);
  // Its process claimed it and died.
  await write(receiver.url, ['left']);
  await store.take({ leaseMs: 300, most: 10, share: 10, busy: [] });
  startWorker();
  await waitUntil(nothingWaits);
  expect(receiver.seen.map(({ id }) => id)).toEqual(['left']);
});

it('CN-156: sends again under the same id what a worker sent that was killed before it noted that', async () => {
  const receiver = await startReceiver(() => 200);
  let isDead = false;
  let bury = (): void => undefined;
  const dead = startWorker({
    take: (options) => (isDead ? Promise.resolve([]) : store.take({ ...options, leaseMs: 300 })),
    end: () => {
      isDead = true;
      return new Promise<void>((resolve) => (bury = resolve));
    },
  });
  await write(receiver.url, ['twice']);
  dead.sender.wake();
  await waitUntil(() => isDead);
  startWorker();
  await waitUntil(nothingWaits);
  expect(receiver.seen.map(({ id }) => id).slice(0, 2)).toEqual(['twice', 'twice']);
  expect(new Set(receiver.seen.map(({ body }) => body)).size).toBe(1);
  bury();
});

it('CN-157, CN-159: tries again after a pause, and gives up after the last attempt; lines and metrics show nothing of the message', async () => {
  const receiver = await startReceiver((seen) => (seen.length === 1 ? 503 : 200));
  const soon = {
    end: (taken, end) => store.end(taken, end.outcome === 'again' ? { ...end, pauseMs: 1 } : end),
  } satisfies Partial<Store>;
  const { lines, metrics } = startWorker(soon, { FLOW_NOTIFICATION_ATTEMPTS: '2' });
  await write(receiver.url, ['again']);
  await waitUntil(nothingWaits);
  expect(receiver.seen.map(({ id }) => id)).toEqual(['again', 'again']);

  const broken = await startReceiver(() => 500);
  await write(broken.url, ['given-up']);
  const refusing = await startReceiver(() => 400);
  await write(refusing.url, ['refused']);
  await waitUntil(async () => (await unsent()).failed === 2);
  expect([broken.seen.length, refusing.seen.length]).toEqual([2, 1]);
  await waitUntil(async () => (await metrics.render()).text.includes('decision_notifications{state="failed"'));
  const { text } = await metrics.render();
  expect(text).toMatch(/decision_notifications_total\{.*channel="webhook",outcome="sent".*\} 1/);
  expect(text).toMatch(/decision_notifications_total\{.*channel="webhook",outcome="again".*\} 2/);
  expect(text).toMatch(/decision_notifications_total\{.*channel="webhook",outcome="failed".*\} 2/);
  expect(text).toMatch(/decision_notifications_oldest_age_seconds/);
  expect(lines.join('\n')).toContain('given-up');
  expect(lines.join('\n') + text).not.toMatch(/marker-of-content|\/hook/);
}, 60_000);

it('CN-157: gives up what killed its worker in every attempt', async () => {
  const receiver = await startReceiver(() => 200);
  await write(receiver.url, ['deadly']);
  for (let attempt = 0; attempt < 2; attempt += 1) {
    await store.take({ leaseMs: 1, most: 10, share: 10, busy: [] });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { failed } = await unsent();
  startWorker({}, { FLOW_NOTIFICATION_ATTEMPTS: '2' });
  await waitUntil(async () => (await unsent()).failed === failed + 1);
  expect(receiver.seen).toEqual([]);
});

it('CN-155: a flood of one workspace is sent a few at once, and does not hold up another one', async () => {
  const { id: other } = await ensureWorkspace(url, { slug: 'other', name: 'Other' });
  const slow = await startReceiver(() => 200, 100);
  const quick = await startReceiver(() => 200);
  await write(
    slow.url,
    Array.from({ length: 200 }, (_, index) => `flood-${index}`),
  );
  startWorker();
  await waitUntil(() => slow.seen.length > 10);
  await write(quick.url, ['other'], other);
  await waitUntil(() => quick.seen.length === 1);
  expect(slow.seen.length).toBeLessThan(150);
  expect(slow.most.open).toBeLessThanOrEqual(16);
  await waitUntil(nothingWaits);
  expect(new Set(slow.seen.map(({ id }) => id)).size).toBe(200);
}, 60_000);

it('CN-155: goes on when the database was away', async () => {
  const receiver = await startReceiver(() => 200);
  let failures = 2;
  const { lines } = startWorker({
    take: (options) => (failures-- > 0 ? Promise.reject(new Error('gone')) : store.take(options)),
  });
  await write(receiver.url, ['later']);
  await waitUntil(nothingWaits);
  expect(receiver.seen.map(({ id }) => id)).toEqual(['later']);
  expect(lines.join('\n')).toContain('could not be looked after');
}, 30_000);
