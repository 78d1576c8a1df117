import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { BenchmarkError } from './benchmark-error';
import { startChild } from './child';
import { measureHttp } from './http-load';
import { type Measurement, medianOf } from './measurement';
import { measureOpenLoop } from './open-loop';
import { tokenOf } from './person-token';
import { runBenchmark } from './run-benchmark';
import { say } from './service-under-test';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const CONNECTIONS = 50;
/** Requests of known people per second during a flood, well below the capacity of one process. */
const STEADY_PER_SECOND = 300;
/** Unknown people per second: more than can be created. */
const STRANGERS_PER_SECOND = Number(process.env['BENCH_STRANGERS'] ?? 1_000);

/** Time for strangers to open their connections, s. */
const OPENING_S = 3;

const SECRET = randomBytes(32).toString('hex');

/** Variables of passthrough. */
const ENVIRONMENT = {
  ...{ EXTERNAL_AUTH_TOKEN_PASSTHROUGH: 'true', JWT_SECRET: SECRET, ADMIN_EMAIL: 'admin@example.com' },
  ...{ BACKEND_URL: 'http://127.0.0.1', BACKEND_ANON_KEY: 'anon', BACKEND_SERVICE_KEY: 'service' },
};

const medianOfRounds = async (measure: () => Promise<Measurement>): Promise<Measurement> => {
  const rounds: Measurement[] = [];
  while (rounds.length < ROUNDS) rounds.push(await measure());
  return medianOf(rounds);
};

interface Beside {
  readonly check: Measurement;
  /** The bare echo, which shares only the processors with the adapter. */
  readonly echo: Measurement;
}

/** Known people and the bare echo, each called at a rate that does not depend on the answers. */
const measureBeside = async (check: string, echo: string, headers: Record<string, string>): Promise<Beside> => {
  const ask = async (url: string): Promise<Measurement> => {
    const { admitted, refused, unsent } = await measureOpenLoop({
      ...{ url, headers, body: '', perSecond: STEADY_PER_SECOND, seconds: SECONDS, connections: 100 },
    });
    // Without the requests that were never sent or answered, the others would look fast.
    return { ...admitted, errors: admitted.errors + Math.round((refused + unsent) * SECONDS) };
  };
  return { check: await ask(check), echo: await ask(echo) };
};

const shown = ({ p50, p99 }: Measurement): string => `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(1)} ms`;

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
    // Both are warmed up before anything counts.
    for (const url of [check, echo.firstLine]) await measureHttp({ ...load, url, seconds: 2 });
    const bare = await medianOfRounds(() => measureHttp({ ...load, url: echo.firstLine }));
    const known = await medianOfRounds(() => measureHttp({ ...load, url: check }));
    const calm: Beside[] = [];
    const flooded: Beside[] = [];
    while (flooded.length < ROUNDS) {
      calm.push(await measureBeside(check, echo.firstLine, headers));
      // A separate process, so that the cost of sending is not counted.
      const args = [check, String(STRANGERS_PER_SECOND), String(2 * SECONDS + OPENING_S)];
      const flood = await startChild('src/baselines/strangers.ts', args);
      // It opens its connections first.
      await pause(OPENING_S * 1_000);
      flooded.push(await measureBeside(check, echo.firstLine, headers));
      await pause(OPENING_S * 1_000);
      await flood.stop();
    }
    await echo.stop();
    const ratio = (one: number, other: number): string => (one / other).toFixed(2);
    say(`bare echo of the same server: ${bare.perSecond.toFixed(0)}/s, p50 ${bare.p50} ms, p99 ${bare.p99} ms`);
    say(`check of a known person: ${known.perSecond.toFixed(0)}/s, p50 ${known.p50} ms, p99 ${known.p99} ms`);
    say(`cost of a check, in bare echoes: ${ratio(bare.perSecond, known.perSecond)} (at most 2)`);
    for (const what of ['check', 'echo'] as const) {
      const [alone, beside] = [calm, flooded].map((rounds) => medianOf(rounds.map((round) => round[what])));
      if (alone === undefined || beside === undefined) continue;
      say(`${what} at ${STEADY_PER_SECOND}/s, calm: ${shown(alone)}; beside strangers: ${shown(beside)}`);
      say(`  slower by p50 ${ratio(beside.p50, alone.p50)}, p99 ${ratio(beside.p99, alone.p99)} (at most 2)`);
    }
    const refused = flooded.reduce((sum, { check: { errors } }) => sum + errors, 0);
    if (known.errors + refused > 0)
      throw new BenchmarkError(`${known.errors + refused} requests of known people were refused.`);
  },
  { environment: { 'auth-proxy-adapter': ENVIRONMENT } },
);
