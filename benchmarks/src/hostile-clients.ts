import { request } from 'node:http';
import { cpus, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeRequests, makeRows, toRuleTable } from './price-table';
import { heldBy, processOf } from './processes';
import { runBenchmark } from './run-benchmark';
import { say, type ServiceUnderTest } from './service-under-test';
import { median } from './measurement';

/* Costs of one hostile client for everybody else: stalls and memory of unauthorised bodies, unread answers, and guessed keys. */

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const MB = 1_000_000;
/** How often the memory of a process is read, ms. */
const SAMPLE_MS = 20;
/** Pause of a neighbour between an answer and the next request, ms. */
const PAUSE_MS = 2;
const TIMEOUT_MS = 60_000;

interface Asked {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly body?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** The local address from which it is sent. */
  readonly from?: string;
}

/** Sends one request over its own connection; answers the status, or 0 if the connection was cut. */
const ask = ({ url, method = 'POST', body = Buffer.alloc(0), headers = {}, from }: Asked): Promise<number> =>
  new Promise((resolve) => {
    const sent = { 'content-type': 'application/json', 'content-length': body.length, ...headers };
    const options = { method, agent: false, headers: sent, timeout: TIMEOUT_MS } as const;
    const call = request(url, from === undefined ? options : { ...options, localAddress: from });
    call.once('response', (answer) => answer.resume().once('close', () => resolve(answer.statusCode ?? 0)));
    call.once('timeout', () => call.destroy()).once('error', () => resolve(0));
    call.end(body);
  });

interface Watched {
  /** Latencies of the neighbour's requests, ms. */
  readonly latencies: readonly number[];
  readonly refused: number;
  /** Growth of memory, bytes. */
  readonly growth: number;
}

/** Repeats a request, and watches the memory of a process, until the work is done. */
const watch = async (pid: number, neighbour: Asked, work: () => Promise<unknown>): Promise<Watched> => {
  const before = heldBy(pid);
  let most = before;
  const sampler = setInterval(() => (most = Math.max(most, heldBy(pid))), SAMPLE_MS);
  const latencies: number[] = [];
  let refused = 0;
  let isDone = false;
  const asking = (async () => {
    while (!isDone) {
      const askedAt = performance.now();
      if ((await ask(neighbour)) !== 200) refused += 1;
      latencies.push(performance.now() - askedAt);
      await sleep(PAUSE_MS);
    }
  })();
  await work();
  isDone = true;
  await asking;
  clearInterval(sampler);
  return { latencies, refused, growth: most - before };
};

const longest = ({ latencies }: Watched): number => latencies.reduce((most, ms) => Math.max(most, ms), 0);

/** An object with keys outside every schema, of about the given number of bytes. */
const unknownKeys = (bytes: number): Buffer => {
  const members: string[] = [];
  for (let length = 2; length < bytes; length += members.at(-1)?.length ?? 0) members.push(`"k${members.length}":1,`);
  return Buffer.from(`{${members.join('').slice(0, -1)}}`);
};

const parseTime = (body: Buffer): number => {
  const beganAt = performance.now();
  JSON.parse(body.toString('utf8'));
  return performance.now() - beganAt;
};

/** Bodies with unknown keys, sent without an API key. */
const bodies = async (service: ServiceUnderTest): Promise<string[]> => {
  const { url, pid } = processOf(service, 'objects-api');
  const neighbour: Asked = { url: `${url}/health`, method: 'GET' };
  const large = unknownKeys(5.9 * MB);
  const cases = [
    ['5.9 MB, a call that asks for a key', '/api/v1/admin/rules/import', large],
    ['5.9 MB, a call that asks for none', '/api/v1/invitations/nobody', large],
    ['250 kB, a call that asks for none', '/api/v1/invitations/nobody', unknownKeys(250_000)],
  ] as const;
  const lines: string[] = [];
  for (const [name, path, body] of cases) {
    const rounds = { alone: [] as number[], beside: [] as number[], parse: [] as number[], growth: [] as number[] };
    let status = 0;
    for (let round = 0; round <= ROUNDS; round += 1) {
      const alone = await watch(pid, neighbour, () => sleep(1_000));
      const beside = await watch(pid, neighbour, async () => {
        for (let sent = 0; sent < 3; sent += 1) status = await ask({ url: `${url}${path}`, body });
      });
      if (round === 0) continue; // only warms up
      rounds.alone.push(longest(alone));
      rounds.beside.push(longest(beside));
      rounds.parse.push(parseTime(body));
      rounds.growth.push(beside.growth);
    }
    const [alone, beside, parse, growth] = [rounds.alone, rounds.beside, rounds.parse, rounds.growth].map(median);
    say(`${name}: answered ${status}`);
    lines.push(
      row(name, status, ...[alone, beside, parse].map((ms) => (ms ?? 0).toFixed(0)), ((growth ?? 0) / MB).toFixed(0)),
    );
  }
  return [
    '| three bodies of unknown keys, one after the other | answer | longest wait alone, ms | beside them | JSON.parse of one | growth, MB |',
    '| --- | --- | --- | --- | --- | --- |',
    ...lines,
  ];
};

const row = (...cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;

/** Two lists of 1 MB whose results, more than a kilobyte each, nobody reads. */
const unreadLists = async (service: ServiceUnderTest, neighbour: Asked): Promise<string[]> => {
  const gateway = processOf(service, 'hps-gateway');
  const worker = processOf(service, 'solve-worker');
  const body = Buffer.from(`[${'{},'.repeat(349_999)}{}]`);
  const sendUnread = async (): Promise<void> => {
    const calls = [1, 2].map(() => {
      const headers = {
        'x-api-key': service.apiKey,
        'content-type': 'application/json',
        'content-length': body.length,
      };
      const url = `${gateway.url}/api/v1/solve/price?explain=true`;
      // Without a listener for its data the answer is not read.
      const call = request(url, { method: 'POST', agent: false, headers }, () => undefined);
      call.on('error', () => undefined).end(body);
      return call;
    });
    await sleep(SECONDS * 1_000);
    for (const call of calls) call.destroy();
  };
  const workerBefore = heldBy(worker.pid);
  const alone = await watch(gateway.pid, neighbour, () => sleep(SECONDS * 1_000));
  const beside = await watch(gateway.pid, neighbour, sendUnread);
  return [
    '| two lists of 1 MB, not read | gateway, MB more | worker, MB more | share of others refused | p50 alone, ms | p50 beside |',
    '| --- | --- | --- | --- | --- | --- |',
    row(
      `for ${SECONDS} s`,
      (beside.growth / MB).toFixed(0),
      ((heldBy(worker.pid) - workerBefore) / MB).toFixed(0),
      (beside.refused / beside.latencies.length).toFixed(3),
      median(alone.latencies).toFixed(1),
      median(beside.latencies).toFixed(1),
    ),
  ];
};

const ADDRESSES = 60;
const BAD_PER_SECOND = 223;
const BAD_KEY = `dsk_zzzzzzzzzzzz_${'B'.repeat(43)}`;

/** Guessed keys from many addresses: as many as guessers may send before each of them is slowed down, and more. */
const guessedKeys = async (service: ServiceUnderTest, neighbour: Asked): Promise<string[]> => {
  const { url, pid } = processOf(service, 'hps-gateway');
  const statuses = new Map<number, number>();
  const guess = async (): Promise<void> => {
    const beganAt = performance.now();
    const pending: Promise<void>[] = [];
    for (let sent = 0; performance.now() - beganAt < SECONDS * 1_000;) {
      const due = Math.floor(((performance.now() - beganAt) / 1_000) * BAD_PER_SECOND);
      for (; sent < due; sent += 1) {
        const from = `127.0.1.${1 + (sent % ADDRESSES)}`;
        const bad = { ...neighbour, url: `${url}/api/v1/solve/price`, headers: { 'x-api-key': BAD_KEY }, from };
        pending.push(ask(bad).then((status) => void statuses.set(status, (statuses.get(status) ?? 0) + 1)));
      }
      await sleep(PAUSE_MS);
    }
    await Promise.all(pending);
  };
  const alone = await watch(pid, neighbour, () => sleep(SECONDS * 1_000));
  const beside = await watch(pid, neighbour, guess);
  const answers = [...statuses].map(([status, count]) => `${count} times ${status}`).join(', ');
  return [
    `| ${BAD_PER_SECOND} bad keys a second from ${ADDRESSES} addresses | share of a valid caller refused | p50 alone, ms | p50 beside | bad keys answered |`,
    '| --- | --- | --- | --- | --- |',
    row(
      `for ${SECONDS} s and until the last is answered`,
      (beside.refused / beside.latencies.length).toFixed(3),
      median(alone.latencies).toFixed(1),
      median(beside.latencies).toFixed(1),
      answers,
    ),
  ];
};

runBenchmark(async (service) => {
  const rows = makeRows(8);
  await service.publish({ ...toRuleTable(rows), name: 'Price', slug: 'price' });
  const neighbour: Asked = {
    url: `${service.gateway}/api/v1/solve/price`,
    body: Buffer.from(JSON.stringify(makeRequests(rows, 1)[0])),
    headers: { 'x-api-key': service.apiKey },
  };
  const load = loadavg()[0] ?? 0;
  // Unread lists come last: workers continue for a while with their requests.
  const parts = [await bodies(service), await guessedKeys(service, neighbour), await unreadLists(service, neighbour)];
  process.stdout.write(
    [
      `${cpus().length} cores shared by all, load ${load.toFixed(1)} when it began; medians of ${ROUNDS} rounds where there are rounds`,
      ...parts.flatMap((lines) => ['', ...lines]),
      '',
    ].join('\n'),
  );
});
