import { cpus, loadavg } from 'node:os';
import { BenchmarkError } from './benchmark-error';
import { startChild } from './child';
import { data, inputs, pricingGraph, tables, total } from './flow-of-tables';
import { measureHttp } from './http-load';
import { type Measurement, medianOf } from './measurement';
import { measureOpenLoop } from './open-loop';
import { makeRequests, makeRows, toRuleTable } from './price-table';
import { runBenchmark } from './run-benchmark';
import { say, type ServiceUnderTest } from './service-under-test';

/*
 * Flows over HTTP: single requests for a flow of three tables of 1,000 rows compared with those for one of its rules, lists compared with the
 * published engine's own batch, and the latencies of a rule while others send a flow whose code never ends.
 */

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
/** Parts to measure, such as `singles,code`; default: all. */
const WANTED = process.env['BENCH_PARTS']?.split(',');
const SINGLE_CONNECTIONS = 50;
const LIST_ITEMS = 1_000;
const LIST_CONNECTIONS = 4;
const RULE_PER_SECOND = 100;
const RULE_CONNECTIONS = 500;
const FLOOD_CONNECTIONS = 16;

/** Two measurements that alternate, in rounds. */
interface Pair {
  readonly ours: Measurement;
  readonly theirs: Measurement;
}

const alternate = async (
  name: string,
  ours: () => Promise<Measurement>,
  theirs: () => Promise<Measurement>,
): Promise<Pair> => {
  const rounds: Pair[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const pair = { ours: await ours(), theirs: await theirs() };
    say(
      `round ${round} ${name}: ${pair.ours.perSecond.toFixed(0)}/s and ${pair.theirs.perSecond.toFixed(0)}/s, p99 ${pair.ours.p99.toFixed(1)} and ${pair.theirs.p99.toFixed(1)} ms, errors ${pair.ours.errors} and ${pair.theirs.errors}`,
    );
    if (round > 0) rounds.push(pair); // the first only warms up
  }
  return {
    ours: medianOf(rounds.map(({ ours: own }) => own)),
    theirs: medianOf(rounds.map(({ theirs: other }) => other)),
  };
};

/** A flow whose code never ends. */
const endless = {
  name: 'Endless',
  slug: 'endless',
  nodes: [
    { ref: 'in', type: 'origin', rule: 'small' },
    { ref: 'spin', type: 'code', code: 'for (;;) {}', outputs: [{ key: 'never', type: 'number' }] },
    { ref: 'out', type: 'result' },
  ],
  connections: [data('in', 'price', 'spin'), data('spin', 'never', 'out')],
};

const publishAll = async (service: ServiceUnderTest): Promise<void> => {
  for (const [slug, table] of [...Object.entries(tables), ['total', total] as const])
    await service.publish({ ...table, name: slug, slug }); // a document, as a client sends it
  await service.publishFlow({ name: 'Pricing', slug: 'pricing', ...pricingGraph });
  await service.publish({ ...toRuleTable(makeRows(8)), name: 'Small', slug: 'small' });
  await service.publishFlow(endless);
};

/** A flow compared with the first of its rules, one input per request. */
const singles = async ({ gateway, apiKey }: ServiceUnderTest): Promise<string> => {
  const load = { connections: SINGLE_CONNECTIONS, seconds: SECONDS, headers: { 'x-api-key': apiKey } };
  const body = JSON.stringify(inputs[0]);
  const { ours, theirs } = await alternate(
    'singles',
    () => measureHttp({ ...load, body, url: `${gateway}/api/v1/flows/pricing` }),
    () => measureHttp({ ...load, body, url: `${gateway}/api/v1/solve/price` }),
  );
  const ratio = (ours.perSecond / theirs.perSecond).toFixed(2);
  return `single requests, ${SINGLE_CONNECTIONS} connections: flow ${ours.perSecond.toFixed(0)}/s, rule ${theirs.perSecond.toFixed(0)}/s, ratio ${ratio} (aim 0.6); errors ${ours.errors} and ${theirs.errors}`;
};

/** Lists compared with the other engine's batch in an Express handler. */
const lists = async ({ gateway, apiKey }: ServiceUnderTest): Promise<string> => {
  const rival = await startChild('src/baselines/published-flow.ts', []);
  try {
    const body = JSON.stringify(Array.from({ length: LIST_ITEMS }, (_, index) => inputs[index % inputs.length]));
    const headers = { 'x-api-key': apiKey };
    const [own, other] = [`${gateway}/api/v1/flows/pricing`, `http://127.0.0.1:${rival.firstLine}/bulk`];
    await checkAgreement(own, other, body, headers);
    const load = { connections: LIST_CONNECTIONS, seconds: SECONDS, body };
    const { ours, theirs } = await alternate(
      'lists',
      () => measureHttp({ ...load, url: own, headers }),
      () => measureHttp({ ...load, url: other }),
    );
    const items = ({ perSecond }: Measurement): string => (perSecond * LIST_ITEMS).toFixed(0);
    return `lists of ${LIST_ITEMS}, ${LIST_CONNECTIONS} connections: ${items(ours)} items/s, published engine ${items(theirs)} items/s, ratio ${(ours.perSecond / theirs.perSecond).toFixed(1)}; errors ${ours.errors} and ${theirs.errors}`;
  } finally {
    await rival.stop();
  }
};

/** Both must give the same answer, or the contest means nothing. */
const checkAgreement = async (
  own: string,
  other: string,
  body: string,
  headers: Readonly<Record<string, string>>,
): Promise<void> => {
  const ask = async (url: string): Promise<readonly { readonly total: number }[]> => {
    const sent = { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } };
    const response = await fetch(url, { ...sent, signal: AbortSignal.timeout(60_000) });
    if (!response.ok) throw new BenchmarkError(`${url} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as readonly { readonly total: number }[];
  };
  const [ours, theirs] = [await ask(own), await ask(other)];
  ours.forEach((answer, index) => {
    if (!(Math.abs(answer.total - (theirs[index]?.total ?? Number.NaN)) < 1e-6))
      throw new BenchmarkError(
        `Answers differ: the flow says ${answer.total}, the other engine ${theirs[index]?.total}.`,
      );
  });
};

/** A rule at a steady rate, alone and beside a flood of code that never ends. */
const besideEndlessCode = async ({ gateway, apiKey }: ServiceUnderTest): Promise<string> => {
  const headers = { 'x-api-key': apiKey };
  const body = JSON.stringify(makeRequests(makeRows(8), 1)[0]);
  const askRule = async (): Promise<Measurement> => {
    const { admitted, refused, unsent } = await measureOpenLoop({
      ...{ url: `${gateway}/api/v1/solve/small`, headers, body },
      ...{ perSecond: RULE_PER_SECOND, seconds: SECONDS, connections: RULE_CONNECTIONS },
    });
    // Without the requests that were never sent or answered, the others would look fast.
    return { ...admitted, errors: admitted.errors + Math.round((refused + unsent) * SECONDS) };
  };
  const flood = { url: `${gateway}/api/v1/flows/endless`, headers, body, connections: FLOOD_CONNECTIONS };
  const { ours: beside, theirs: alone } = await alternate(
    'a rule beside endless code, and alone',
    async () => (await Promise.all([askRule(), measureHttp({ ...flood, seconds: SECONDS })]))[0],
    async () => {
      await pause(CODE_ENDS_MS);
      return askRule();
    },
  );
  return `a rule at ${RULE_PER_SECOND}/s: p99 alone ${alone.p99.toFixed(1)} ms, beside ${FLOOD_CONNECTIONS} connections with endless code ${beside.p99.toFixed(1)} ms, ratio ${(beside.p99 / alone.p99).toFixed(2)} (aim 2 at most); unanswered ${alone.errors} and ${beside.errors}`;
};

/** Time after which the flood's remaining work has ended, ms. */
const CODE_ENDS_MS = 20_000;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

runBenchmark(async (service) => {
  await publishAll(service);
  const parts = { singles, lists, code: besideEndlessCode };
  const lines: string[] = [];
  for (const [name, measure] of Object.entries(parts))
    if (WANTED === undefined || WANTED.includes(name)) lines.push(await measure(service));
  const [load = 0] = loadavg();
  process.stdout.write(
    `${cpus().length} cores shared by all, load ${load.toFixed(1)}; medians of ${ROUNDS} rounds of ${SECONDS} s\n${lines.join('\n')}\n`,
  );
});
