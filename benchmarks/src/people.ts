import { randomBytes } from 'node:crypto';
import { BenchmarkError } from './benchmark-error';
import { startChild } from './child';
import { measureHttp } from './http-load';
import { type Measurement, medianOf } from './measurement';
import { runBenchmark } from './run-benchmark';
import { say } from './service-under-test';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const CONNECTIONS = 50;
/** Requests of known people a second beside a flood, well below what one process answers. */
const STEADY_PER_SECOND = 300;
const FLOODING = 32;

const SECRET = randomBytes(32).toString('hex');

/** Variables of passthrough. */
const ENVIRONMENT = {
  ...{ EXTERNAL_AUTH_TOKEN_PASSTHROUGH: 'true', JWT_SECRET: SECRET, ADMIN_EMAIL: 'admin@example.com' },
  ...{ BACKEND_URL: 'http://127.0.0.1', BACKEND_ANON_KEY: 'anon', BACKEND_SERVICE_KEY: 'service' },
};

/** A token as large as those of directories usually are. */
const tokenOf = (email: string): string => {
  const claims = { email, sub: email, name: 'Ada', groups: Array.from({ length: 20 }, (_, index) => `group-${index}`) };
  const [header, payload] = [{ alg: 'RS256', kid: 'k' }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  return `${header ?? ''}.${payload ?? ''}.${randomBytes(256).toString('base64url')}`;
};

const medianOfRounds = async (measure: () => Promise<Measurement>): Promise<Measurement> => {
  const rounds: Measurement[] = [];
  while (rounds.length < ROUNDS) rounds.push(await measure());
  return medianOf(rounds);
};

/** Sends tokens of people whom nobody has seen, until it is stopped; answers the statuses that came back. */
const startFlood = (url: string): { stop(): Promise<ReadonlyMap<number, number>> } => {
  let isOver = false;
  const statuses = new Map<number, number>();
  const send = async (): Promise<void> => {
    while (!isOver) {
      const email = `${randomBytes(8).toString('hex')}@example.com`;
      const answer = await fetch(url, { headers: { authorization: `Bearer ${tokenOf(email)}` } });
      await answer.arrayBuffer();
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    }
  };
  const sending = Promise.all(Array.from({ length: FLOODING }, send));
  return {
    stop: async () => {
      isOver = true;
      await sending;
      return statuses;
    },
  };
};

runBenchmark(
  async ({ fleet }) => {
    const check = `${fleet.services.get('auth-proxy-adapter')?.url ?? ''}/auth/check`;
    const authorization = `Bearer ${tokenOf('ada@example.com')}`;
    const first = await fetch(check, { headers: { authorization } });
    const [cookie] = first.headers.getSetCookie()[0]?.split(';') ?? [];
    if (cookie === undefined)
      throw new BenchmarkError(`The first request was answered ${first.status}, without a cookie.`);
    const headers = { authorization, cookie, 'x-forwarded-uri': '/api/v1/admin/rules/list' };
    const echo = await startChild('src/baselines/bare-echo.ts', []);
    const load = { body: '', headers, connections: CONNECTIONS, seconds: SECONDS };
    // Both are warm before anything counts.
    for (const url of [check, echo.firstLine]) await measureHttp({ ...load, url, seconds: 2 });
    const bare = await medianOfRounds(() => measureHttp({ ...load, url: echo.firstLine }));
    const known = await medianOfRounds(() => measureHttp({ ...load, url: check }));
    await echo.stop();
    const steady = { ...load, url: check, perSecond: STEADY_PER_SECOND, connections: 10 };
    const calm = await medianOfRounds(() => measureHttp(steady));
    const flood = startFlood(check);
    const flooded = await medianOfRounds(() => measureHttp(steady));
    const statuses = await flood.stop();
    const ratio = (one: number, other: number): string => (one / other).toFixed(2);
    say(`bare echo of the same server: ${bare.perSecond.toFixed(0)}/s, p50 ${bare.p50} ms, p99 ${bare.p99} ms`);
    say(`check of a known person: ${known.perSecond.toFixed(0)}/s, p50 ${known.p50} ms, p99 ${known.p99} ms`);
    say(`cost of a check, in bare echoes: ${ratio(bare.perSecond, known.perSecond)} (at most 2)`);
    say(`known people at ${STEADY_PER_SECOND}/s, calm: p50 ${calm.p50} ms, p99 ${calm.p99} ms`);
    say(`the same beside a flood: p50 ${flooded.p50} ms, p99 ${flooded.p99} ms, ${flooded.errors} errors`);
    say(`answers to the flood: ${[...statuses].map(([status, count]) => `${status}: ${count}`).join(', ')}`);
    if (known.errors + flooded.errors > 0) throw new BenchmarkError('Known people were refused.');
  },
  { 'auth-proxy-adapter': ENVIRONMENT },
);
