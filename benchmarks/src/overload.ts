import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack } from '@decision/local-stack';
import autocannon from 'autocannon';
import { measureHttp } from './http-load';
import { type Measurement, medianOf, summarise } from './measurement';
import { makeRequests, makeRows, toRuleTable } from './price-table';
import { ROOT, say, type ServiceUnderTest, startService } from './service-under-test';

/* What becomes of those who are admitted when three times as many requests come as can be answered. */

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const CONNECTIONS = 100;
const TIMES_TOO_MANY = 3;
/** As many as keep a rate up although each waits for its answer. */
const CROWD = 600;

/** A rule that one worker evaluates some hundred times a second, and one that costs next to nothing. */
const heavyTable = {
  requestSchema: [{ key: 'steps', type: 'number' }],
  responseSchema: [{ key: 'sum', type: 'number' }],
  conditions: [
    { request: {}, response: { sum: { type: 'function', value: 'sum(range(0, steps), item => item * item)' } } },
  ],
};

/** About three milliseconds. */
const STEPS = 20_000;

interface Load {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Keeps a rate up for some seconds. What is answered 200 is measured, what is refused is counted. */
const overload = async (load: Load, perSecond: number): Promise<Measurement & { readonly refused: number }> => {
  const admitted: number[] = [];
  let refused = 0;
  let others = 0;
  await new Promise<void>((resolve, reject) => {
    const options = {
      ...load,
      method: 'POST' as const,
      headers: { 'content-type': 'application/json', ...load.headers },
      connections: CROWD,
      duration: SECONDS,
      overallRate: Math.round(perSecond),
    };
    autocannon(options, (error: Error | null) => (error === null ? resolve() : reject(error))).on(
      'response',
      (_client, status, _bytes, ms) => {
        if (status === 200) admitted.push(ms);
        else if (status === 429) refused += 1;
        else others += 1;
      },
    );
  });
  return { ...summarise(admitted, SECONDS, others), refused: refused / SECONDS };
};

const contest = async (service: ServiceUnderTest, name: string, slug: string, body: string): Promise<string> => {
  const load = { url: `${service.gateway}/api/v1/solve/${slug}`, headers: { 'x-api-key': service.apiKey }, body };
  const [most, crowd]: [Measurement[], (Measurement & { refused: number })[]] = [[], []];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const best = await measureHttp({ ...load, connections: CONNECTIONS, seconds: SECONDS });
    const under = await overload(load, best.perSecond * TIMES_TOO_MANY);
    say(
      `${name} ${round}: ${best.perSecond.toFixed(0)}/s, p99 ${best.p99.toFixed(0)}; crowded ${under.perSecond.toFixed(0)}/s, p99 ${under.p99.toFixed(0)}, refused ${under.refused.toFixed(0)}/s, other answers ${under.errors}`,
    );
    if (round === 0) continue; // only warms up
    most.push(best);
    crowd.push(under);
  }
  const best = medianOf(most);
  const under = medianOf(crowd);
  const refused = crowd.find(({ perSecond }) => perSecond === under.perSecond)?.refused ?? 0;
  const cells = [
    ...[name, best.perSecond.toFixed(0), under.perSecond.toFixed(0), refused.toFixed(0)],
    (under.perSecond / best.perSecond).toFixed(2),
    ...[best.p99.toFixed(0), under.p99.toFixed(0), (under.p99 / best.p99).toFixed(2)],
  ];
  return `| ${cells.join(' | ')} |`;
};

const main = async (): Promise<void> => {
  const directory = mkdtempSync(join(tmpdir(), 'decision-benchmark-'));
  const stack = await startStack({
    directory,
    downloads: join(ROOT, '.local/downloads'),
    onProgress: ({ message }) => say(message),
  });
  let service: ServiceUnderTest | undefined;
  try {
    service = await startService(stack);
    const rows = makeRows(8);
    await service.publish({ ...toRuleTable(rows), name: 'Light', slug: 'light' });
    await service.publish({ ...heavyTable, name: 'Heavy', slug: 'heavy' } as never); // a document, as a client sends it
    const steps = JSON.stringify({ steps: STEPS });
    const lines = [
      await contest(service, 'a light rule', 'light', JSON.stringify(makeRequests(rows, 1)[0])),
      await contest(service, 'a heavy rule', 'heavy', steps),
    ];
    process.stdout.write(
      [
        `${cpus().length} cores shared by all; medians of ${ROUNDS} rounds of ${SECONDS} s`,
        '',
        `| | most, /s | at ${TIMES_TOO_MANY} times as many | refused, /s | goodput | p99 at most, ms | p99 of the admitted | ratio |`,
        '| --- | --- | --- | --- | --- | --- | --- | --- |',
        ...lines,
        '',
      ].join('\n'),
    );
  } finally {
    await service?.fleet.stop();
    await stack.stop();
    rmSync(directory, { recursive: true, force: true });
  }
};

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(1);
});
