import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '@decision/local-stack';
import { type FleetUnderTest, repositoryRoot, startFleetUnderTest } from '../fleet/fleet-under-test';

/* Dashboards and alerts query series that processes really export: a slightly wrong name would leave a panel empty for ever. */

const FILES = join(repositoryRoot, 'charts/decision-service/files');
/** Labels that Prometheus adds, and the label of histogram buckets. */
const ADDED: readonly string[] = ['instance', 'namespace', 'le'];
let fleet: FleetUnderTest;
let folder: string;
/** Labels of the samples of each exported series; empty if nothing has been counted yet. */
const exported = new Map<string, Set<string>>();

const ENDINGS: Readonly<Record<string, readonly string[]>> = {
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
};

const note = (text: string): void => {
  for (const [, name = '', kind = ''] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    for (const ending of ENDINGS[kind] ?? ['']) {
      const series = `${name}${ending}`;
      exported.set(series, exported.get(series) ?? new Set());
    }
  }
  for (const [, name = '', labels = ''] of text.matchAll(/^([a-z_][a-z0-9_]*)\{(.*)\} \S+$/gm)) {
    for (const [, label = ''] of labels.matchAll(/([a-z_]+)="/g)) exported.get(name)?.add(label);
  }
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'observability-'));
  const sink = { name: 'away', kind: 'otlp', url: 'http://127.0.0.1:1/v1/logs' };
  writeFileSync(join(folder, 'sinks.json'), JSON.stringify({ sinks: [sink] }));
  fleet = await startFleetUnderTest({
    environment: {
      'log-collector': {
        ...{ ARCHIVE_URL: `file://${join(folder, 'archive')}`, ARCHIVE_ROLL_MS: '300' },
        ...{ LOG_SINKS: join(folder, 'sinks.json'), LOG_SINK_DEAD_LETTER_DIR: join(folder, 'dead') },
      },
      'auth-proxy-adapter': { JWT_SECRET: 'observability-observability-observability' },
    },
  });
  const parcel = { destination: { country: 'DE' }, weight: 2.4, express: false };
  await fleet.call('POST', '/api/v1/solve/shipping-price', parcel);
  await fleet.call('POST', '/api/v1/solve/there-is-none', parcel);
  await fleet.call('POST', '/api/v1/contexts/orders/o-1', { total: 12, country: 'DE', customer_id: 'c-1' });
  await fleet.call('POST', '/api/v1/flows/order-pricing', { items: [{ sku: 'a', quantity: 1, unit_price: 2 }] });
  await waitUntil(async () => {
    const { body } = await fleet.call('GET', '/api/v1/decisions/query?rules=shipping-price');
    return (body as { readonly data: readonly unknown[] }).data.length > 0; // our own answer
  }, 'decisions are stored');
  for (const { url } of fleet.fleet.processes) note(await (await fetch(`${url}/metrics`)).text());
}, 360_000);
afterAll(async () => {
  await fleet?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

interface Asked {
  readonly where: string;
  readonly expr: string;
}

const dashboardQueries = (): readonly Asked[] =>
  readdirSync(join(FILES, 'dashboards')).flatMap((file) => {
    const { panels } = JSON.parse(readFileSync(join(FILES, 'dashboards', file), 'utf8')) as {
      readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
    }; // our own file
    return panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr }) => ({ where: `${file}: ${title}`, expr })),
    );
  });

/** The alerts, by the lines of their file: an expression continues until the next key. */
const alertQueries = (): readonly Asked[] => {
  const text = readFileSync(join(FILES, 'alerts.yaml'), 'utf8');
  return [...text.matchAll(/- alert: (\w+)\n\s+expr:([^]*?)\n\s+(?:for|labels|annotations):/g)].map(
    ([, where = '', expr = '']) => ({ where, expr }),
  );
};

it('every series that a dashboard or an alert asks about is exported by a running fleet', () => {
  const asked = [...dashboardQueries(), ...alertQueries()];
  expect(asked.length).toBeGreaterThan(80);
  expect(alertQueries().length).toBeGreaterThan(10);
  const missing = asked.flatMap(({ where, expr }) =>
    [...expr.matchAll(/\b(?:decision|http|nodejs|process|usage)_[a-z0-9_]+/g)]
      .map(([series]) => series)
      .filter((series) => !exported.has(series))
      .map((series) => `${where}: ${series}`),
  );
  expect(missing).toEqual([]);
});

it('every label that they match or sum by is one that the series has', () => {
  const wrong = [...dashboardQueries(), ...alertQueries()].flatMap(({ where, expr }) => {
    const summed = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(/,\s*/));
    return [...expr.matchAll(/\b((?:decision|http|nodejs|process|usage)_[a-z0-9_]+)(?:\{([^}]*)\})?/g)].flatMap(
      ([, series = '', matchers = '']) => {
        const labels = exported.get(series) ?? new Set();
        // A series that has not been counted shows no labels.
        if (labels.size === 0) return [];
        const used = [
          ...[...matchers.matchAll(/([a-z_]+)\s*(?:=|!=|=~|!~)"/g)].map(([, name = '']) => name),
          ...summed,
        ];
        return used
          .filter((label) => label !== '' && !ADDED.includes(label) && !labels.has(label))
          .map((label) => `${where}: ${series} has no label ${label}`);
      },
    );
  });
  expect(wrong).toEqual([]);
});
