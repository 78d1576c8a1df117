import { join } from 'node:path';
import { loadavg } from 'node:os';
import { Worker } from 'node:worker_threads';
import { createCodeConnector, createConnectors } from '@decision/connectors';
import { type RuleTable } from '@decision/contracts';
import { compileRule } from '@decision/engine';
import { compileFlow, evaluateFlow } from '@decision/flows';
import { type BareJob } from './baselines/bare-code-thread';
import { BenchmarkError } from './benchmark-error';
import { summarise } from './engine/rounds';

/*
 * 1,000 items of a `foreach` through a `code` node, compared with the same calls on a bare pool: threads of the same engine that receive each run
 * separately, make a fresh context for it and answer. Both have one thread, or BENCH_THREADS. Rounds alternate. Measured in wall time, and in
 * processor time of all threads, which is more reliable on a busy machine.
 */

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 9);
const WARM_UPS = 2;
const THREADS = Number(process.env['BENCH_THREADS'] ?? 1);
const ITEMS = 1_000;
const CODE = 'outputs.gross = Math.round(inputs.net * 119) / 100';
const NETS = Array.from({ length: ITEMS }, (_, index) => index + 0.5);
const TOTAL = NETS.reduce((sum, net) => sum + Math.round(net * 119) / 100, 0);

const orders: RuleTable = {
  requestSchema: [{ key: 'items', type: 'list' }],
  responseSchema: [],
  conditions: [{}],
};

const plan = compileFlow(
  { id: 'taxes', slug: 'taxes', version: 1 },
  {
    nodes: [
      { ref: 'in', type: 'origin', rule: 'orders' },
      { ref: 'each', type: 'foreach', outputs: [{ key: 'net', type: 'number' }] },
      { ref: 'tax', type: 'code', code: CODE, outputs: [{ key: 'gross', type: 'number' }] },
      { ref: 'all', type: 'aggregate', aggregations: { total: { operator: 'sum' } } },
      { ref: 'answer', type: 'result' },
    ],
    connections: [
      { from: 'in', output: 'request_items', to: 'each', input: 'list' },
      { from: 'each', output: 'net', to: 'tax', input: 'net' },
      { from: 'tax', output: 'gross', to: 'all', input: 'total' },
      { from: 'all', output: 'total', to: 'answer', input: 'total' },
    ],
  },
  {
    findRule: (slug) => ({
      ...{ id: slug, slug, version: 1, rule: compileRule(orders) },
      ...{ inputs: orders.requestSchema, outputs: [] },
    }),
    findFlow: () => undefined,
  },
);

/** Threads that are sent one run after the other, each while the previous one is in progress, so that no thread ever waits for this one. */
class BarePool {
  private readonly workers = Array.from(
    { length: THREADS },
    () =>
      new Worker(join(__dirname, 'baselines/bare-code-thread.ts'), {
        execArgv: ['--require', require.resolve('tsx/cjs')],
      }),
  );

  /** Answers the sum of all. */
  async run(jobs: readonly BareJob[]): Promise<number> {
    const sums = await Promise.all(
      this.workers.map((worker, at) =>
        this.runIn(
          worker,
          jobs.filter((_, index) => index % THREADS === at),
        ),
      ),
    );
    return sums.reduce((sum, one) => sum + one, 0);
  }

  async stop(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.terminate()));
  }

  private runIn(worker: Worker, jobs: readonly BareJob[]): Promise<number> {
    return new Promise((resolve, reject) => {
      let [sum, answered, sent] = [0, 0, 0];
      const send = (): void => worker.postMessage(jobs[sent++]);
      const take = (outputs: string): void => {
        sum += (JSON.parse(outputs) as { gross: number }).gross; // in the form that the code above produces
        answered += 1;
        if (sent < jobs.length) send();
        if (answered < jobs.length) return;
        worker.off('message', take).off('error', reject);
        resolve(sum);
      };
      worker.on('message', take);
      worker.on('error', reject);
      while (sent < Math.min(8, jobs.length)) send();
    });
  }
}

const main = async (): Promise<void> => {
  const connectors = createConnectors({ connectors: [createCodeConnector({ threads: THREADS })] });
  const bare = new BarePool();
  let requests = 0;
  const throughFlow = async (): Promise<number> => {
    requests += 1;
    const run = {
      workspaceId: 'w',
      versionId: 'v',
      round: 0,
      idempotencyRoot: `${requests}`,
      requestId: `${requests}`,
    };
    const outcome = await evaluateFlow(
      plan,
      { items: NETS.map((net) => ({ net })) },
      { now: 0, call: connectors.callFor({ ...run, deadline: Date.now() + 60_000 }) },
    );
    if (!outcome.ok) throw new BenchmarkError(outcome.error.message);
    return Number(outcome.output['total']);
  };
  const throughBare = (): Promise<number> =>
    bare.run(NETS.map((net) => ({ code: CODE, inputs: JSON.stringify({ net }) })));
  const rounds: { readonly flow: Times; readonly bare: Times }[] = [];
  for (let round = -WARM_UPS; round < ROUNDS; round += 1) {
    const times = { bare: await timed(throughBare), flow: await timed(throughFlow) };
    if (round >= 0) rounds.push(times);
  }
  await connectors.stop();
  await bare.stop();
  const line = (name: string, of: (times: Times) => number): string => {
    const flow = summarise(rounds.map((round) => of(round.flow)));
    const alone = summarise(rounds.map((round) => of(round.bare)));
    const ratio = summarise(rounds.map((round) => of(round.flow) / of(round.bare)));
    return `  ${name}: flow ${flow.median.toFixed(0)} ms, bare pool ${alone.median.toFixed(0)} ms: ${ratio.median.toFixed(2)} times (aim 2 at most), quartiles ${(ratio.spread * 100).toFixed(0)} % apart`;
  };
  process.stdout.write(
    [
      `1,000 items through a code node, ${THREADS} thread(s), load ${loadavg()[0]?.toFixed(1)}`,
      line('clock', ({ clock }) => clock),
      line('processor', ({ processor }) => processor),
      '',
    ].join('\n'),
  );
};

interface Times {
  readonly clock: number;
  /** Sum over all threads. */
  readonly processor: number;
}

const timed = async (run: () => Promise<number>): Promise<Times> => {
  const [began, used] = [performance.now(), process.cpuUsage()];
  const sum = await run();
  if (Math.abs(sum - TOTAL) > 1e-3) throw new BenchmarkError(`The sum is ${sum}, and not ${TOTAL}.`);
  const { user, system } = process.cpuUsage(used);
  return { clock: performance.now() - began, processor: (user + system) / 1_000 };
};

void main();
