import { range, timed } from './beside-sql';
import {
  discountRule,
  type MadeContext,
  makeContext,
  makeOffers,
  makeReadings,
  reading,
  type Send,
} from './context-workload';
import { memoryOf, sendLines, withMemory } from './line-batches';
import { latencies, median, type Measurement } from './measurement';
import { type RawInstances } from './raw-instances';
import { say, type ServiceUnderTest } from './service-under-test';

/*
 * Growth of costs: of a submission with the number of instances of its context, of related instances and of history entries; of a change with the
 * number of its readers; of a batch with the number of its lines.
 */

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const SINGLES = Number(process.env['BENCH_SINGLES'] ?? 500);
/** Largest size of contexts. */
const INSTANCES = Number(process.env['BENCH_INSTANCES'] ?? 1_000_000);
const DEPENDENTS = Number(process.env['BENCH_DEPENDENTS'] ?? 100_000);
const STEPS = [1, 1_000, 10_000, 100_000, 1_000_000];
/** Orders per customer, for the batch of orders that leads to many customers. */
const ORDERS_EACH = 100;
const TRACKED = 100;
const ENTRIES = 50;

interface GrowthBench {
  readonly service: ServiceUnderTest;
  readonly contexts: Send;
  readonly raw: RawInstances;
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const table = (...head: readonly string[]): void =>
  print(`\n| ${head.join(' | ')} |\n| ${head.map(() => '---').join(' | ')} |`);
const row = (...cells: readonly (string | number)[]): void =>
  print(`| ${cells.map((cell) => (typeof cell === 'number' ? cell.toLocaleString('en') : cell)).join(' | ')} |`);
const stepsTo = (most: number): readonly number[] => [...STEPS.filter((step) => step < most), most];

/** Cost of a batch of lines without computations: half of them create an instance, the others change one. */
export const growLines = async ({ service, contexts }: GrowthBench): Promise<void> => {
  const { slug } = await makeReadings(contexts);
  table('lines of a batch', 'lines/s', 'contexts-api before, MB', 'at most, MB');
  for (const count of stepsTo(INSTANCES).filter((step) => step >= 10_000)) {
    const before = memoryOf(service);
    const { ms, peak } = await withMemory(service, () =>
      sendLines(service, slug, count, (index) => reading(index, count / 2)),
    );
    row(count, ((count / ms) * 1_000).toFixed(0), before.toFixed(0), peak.toFixed(0));
  }
};

/** Cost of a submission with few and many instances in its context, in turns with an instance that is alone. */
export const growInstances = async ({ service, contexts, raw }: GrowthBench): Promise<void> => {
  const grown = await makeOffers(contexts, 'Grown');
  const alone = await makeOffers(contexts, 'Alone');
  let submitted = 0;
  const submit = (slug: string, held: number) => (): Promise<unknown> =>
    contexts('POST', `/contexts/${slug}/i-${1 + ((submitted * 7_919) % held)}`, { total: 200 + (submitted += 1) });
  for (const { slug } of [grown, alone]) await service.publish(discountRule(slug));
  await latencies(SINGLES, 1, submit(alone.slug, 1));
  table('instances of the context', 'submission p50, p99, ms', 'of one instance alone, ms', 'ratio of p50');
  let held = 0;
  for (const instances of stepsTo(INSTANCES)) {
    const filling = { prefix: 'i-', from: held + 1, count: instances, foreignKey: 'customer', target: 'c' };
    await raw.fill(grown.id, filling);
    held = instances;
    const rounds = { grown: [] as Measurement[], alone: [] as Measurement[] };
    for (const round of range(ROUNDS)) {
      rounds.grown.push(await latencies(SINGLES, 1, submit(grown.slug, held)));
      rounds.alone.push(await latencies(SINGLES, 1, submit(alone.slug, 1)));
      say(`${instances} instances, round ${round + 1}`);
    }
    const middle = (seen: readonly Measurement[], key: 'p50' | 'p99'): number => median(seen.map((one) => one[key]));
    const shown = (seen: readonly Measurement[]): string =>
      `${middle(seen, 'p50').toFixed(1)}, ${middle(seen, 'p99').toFixed(1)}`;
    const ratio = middle(rounds.grown, 'p50') / middle(rounds.alone, 'p50');
    row(instances, shown(rounds.grown), shown(rounds.alone), ratio.toFixed(2));
  }
};

interface CustomersAndOrders {
  readonly customers: MadeContext;
  readonly orders: MadeContext;
}

const FOREIGN_KEY = { key: 'customer', type: 'string' };

/** Customers who sum their orders. */
const makeCustomers = async (contexts: Send): Promise<CustomersAndOrders> => {
  const orders = await makeContext(contexts, 'Orders', [FOREIGN_KEY, { key: 'total', type: 'number' }]);
  const customers = await makeContext(contexts, 'Customers', []);
  await contexts('POST', `/admin/contexts/${customers.id}/relationships`, {
    ...{ to_context_id: orders.id, relation_type: 'has_many', foreign_key_fact: 'customer', name: 'orders' },
  });
  await contexts('PUT', `/admin/contexts/${customers.id}`, {
    schema: {
      base: [{ key: 'id', type: 'string' }],
      derived: [
        { key: 'spent', expression: "sum($orders, 'total')" },
        { key: 'large', expression: 'count($orders, o => o.total > 500)' },
      ],
    },
  });
  return { customers, orders };
};

/** Cost of a customer with few and with many orders: of its submission, and of a change of one order. */
export const growRelated = async ({ service, contexts, raw }: GrowthBench): Promise<void> => {
  const { customers, orders } = await makeCustomers(contexts);
  table(
    'orders of a customer',
    'submission of the customer, ms',
    'each order, µs',
    'change of one order, ms',
    'contexts-api at most, MB',
  );
  for (const count of stepsTo(DEPENDENTS)) {
    const customer = `c-${count}`;
    await raw.fillLinked(orders.id, { prefix: `${customer}-`, count, foreignKey: 'customer', target: customer });
    await contexts('POST', `/contexts/${customers.slug}/${customer}`, {});
    const times = { customer: [] as number[], order: [] as number[] };
    const { peak } = await withMemory(service, async () => {
      for (const round of range(ROUNDS)) {
        await timed(times.customer, () => contexts('POST', `/contexts/${customers.slug}/${customer}`, {}));
        await timed(times.order, () =>
          contexts('POST', `/contexts/${orders.slug}/${customer}-1`, { total: round + 2 }),
        );
      }
    });
    const own = median(times.customer);
    row(count, own.toFixed(1), ((own / count) * 1_000).toFixed(1), median(times.order).toFixed(1), peak.toFixed(0));
  }
};

/** Cost of a batch of orders whose customers sum them. */
export const growReaders = async ({ service, contexts }: GrowthBench): Promise<void> => {
  const { customers, orders } = await makeCustomers(contexts);
  table(
    'orders of a batch of lines',
    'customers',
    'order of the lines',
    'ms',
    'each order, µs',
    'contexts-api at most, MB',
  );
  for (const count of stepsTo(DEPENDENTS).filter((step) => step >= 1_000)) {
    for (const [sorting, customerOf] of [
      ['by customer', (index: number, of: number): number => Math.floor((index * of) / count)],
      ['mixed', (index: number, of: number): number => index % of],
    ] as const) {
      const of = count / ORDERS_EACH;
      const prefix = `${sorting}-${count}`;
      await sendLines(service, customers.slug, of, (index) => ({ id: `${prefix}-${index}` }));
      const { ms, peak } = await withMemory(service, () =>
        sendLines(service, orders.slug, count, (index) => ({
          ...{ id: `${prefix}-${index}`, customer: `${prefix}-${customerOf(index, of)}`, total: index % 1_000 },
        })),
      );
      row(count, of, sorting, ms.toFixed(0), ((ms / count) * 1_000).toFixed(0), peak.toFixed(0));
    }
  }
};

/** Cost of a submission whose instance has few or many readers. */
export const growDependents = async ({ service, contexts, raw }: GrowthBench): Promise<void> => {
  const tariffs = await makeContext(contexts, 'Tariffs', [{ key: 'rate', type: 'number' }]);
  const parcels = await makeContext(contexts, 'Parcels', [{ key: 'tariff', type: 'string' }]);
  await contexts('POST', `/admin/contexts/${parcels.id}/relationships`, {
    ...{ to_context_id: tariffs.id, relation_type: 'belongs_to', foreign_key_fact: 'tariff', name: 'tariff' },
  });
  await contexts('PUT', `/admin/contexts/${parcels.id}`, {
    schema: {
      base: [
        { key: 'id', type: 'string' },
        { key: 'tariff', type: 'string' },
      ],
      derived: [{ key: 'price', expression: '$tariff.rate * 2' }],
    },
  });
  table('dependents', 'submission, ms', 'each, ms', 'contexts-api at most, MB');
  for (const dependents of stepsTo(DEPENDENTS)) {
    const tariff = `t-${dependents}`;
    await contexts('POST', `/contexts/${tariffs.slug}/${tariff}`, { rate: 1 });
    await raw.fillLinked(parcels.id, { prefix: `${tariff}-`, count: dependents, foreignKey: 'tariff', target: tariff });
    const times: number[] = [];
    const { peak } = await withMemory(service, async () => {
      for (const round of range(ROUNDS))
        await timed(times, () => contexts('POST', `/contexts/${tariffs.slug}/${tariff}`, { rate: 2 + round }));
    });
    const ms = median(times);
    row(dependents, ms.toFixed(1), (ms / dependents).toFixed(3), peak.toFixed(0));
  }
};

/** Cost of a submission with tracked facts, before and after its history has grown. */
export const growHistory = async ({ service, contexts }: GrowthBench): Promise<void> => {
  const facts = range(TRACKED).map((index) => ({ key: `fact_${index}`, type: 'number', track_history: true }));
  const tracked = await makeContext(contexts, 'Tracked', facts);
  let round = 0;
  const all = () => Object.fromEntries(facts.map(({ key }) => [key, (round += 1)]));
  const submit = (): Promise<unknown> => contexts('POST', `/contexts/${tracked.slug}/one`, all());
  table(
    `entries of history for each of ${TRACKED} facts`,
    'submission that changes all, ms',
    'read of all history, ms',
    'contexts-api, MB',
  );
  let entries = 0;
  for (const wanted of [5, ENTRIES / 2, ENTRIES, ENTRIES * 2]) {
    const times: number[] = [];
    for (; entries < wanted; entries += 1) await timed(times, submit);
    const reads: number[] = [];
    await timed(reads, () => contexts('GET', `/contexts/${tracked.slug}/one/history?limit=100`));
    row(wanted, median(times.slice(-5)).toFixed(1), median(reads).toFixed(1), memoryOf(service).toFixed(0));
  }
};
