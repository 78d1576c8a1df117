import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chartsFolder } from '../src/chart-values';
import { grafanaDocument } from '../src/dashboards/dashboard-model';
import { dashboards } from '../src/dashboards/dashboards';
import { metricsOf } from '../src/dashboards/queried-metrics';

const folder = join(chartsFolder, 'decision-service/files/dashboards');
const administration = readFileSync(join(chartsFolder, '../docs/administration.md'), 'utf8');
const runbooks = readFileSync(join(chartsFolder, '../docs/runbooks.md'), 'utf8');
const panels = dashboards.flatMap((dashboard) =>
  dashboard.rows.flatMap((row) => row.panels.map((panel) => [`${dashboard.name}: ${panel.title}`, panel] as const)),
);

/** Metrics of the runtime, which every process exports. */
const OF_THE_RUNTIME = [
  'nodejs_eventloop_lag_p99_seconds',
  'process_cpu_seconds_total',
  'process_resident_memory_bytes',
];

it.each(dashboards.map((dashboard) => [dashboard.name, dashboard] as const))(
  'the file of %s follows from its description',
  (name, dashboard) => {
    const path = join(folder, `${name}.json`);
    const text = `${JSON.stringify(grafanaDocument(dashboard), null, 1)}\n`;
    if (process.env['WRITE_DOCS'] === '1') {
      if (!existsSync(folder)) mkdirSync(folder);
      writeFileSync(path, text);
    }
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(JSON.parse(text));
  },
);

it('there is no file without a description', () => {
  expect(readdirSync(folder).sort()).toEqual(dashboards.map(({ name }) => `${name}.json`).sort());
});

it.each(panels)('%s asks about metrics that there are', (_title, panel) => {
  const metrics = panel.queries.flatMap(({ expr }) => metricsOf(expr));
  expect(metrics.length).toBeGreaterThan(0);
  const endings = ['_produce_seconds', '_batch_messages', '_produced_messages_total', '_produced_bytes_total', '_repeated_messages_total', '_failed_messages_total']; // prettier-ignore
  const known = (metric: string): boolean =>
    OF_THE_RUNTIME.includes(metric) ||
    endings.some((ending) => metric.endsWith(ending)) ||
    new RegExp(`\`${metric}[{\`]`).test(administration);
  expect(metrics.filter((metric) => !known(metric))).toEqual([]);
});

it.each(panels)('%s says what a bad value means, and names only runbooks that there are', (_title, panel) => {
  expect(panel.means).toMatch(/^[\w\d].*\.$/);
  for (const [, name = ''] of panel.means.matchAll(/runbook (\w+)/g)) expect(runbooks).toContain(`\n## ${name}\n`);
});

it('each panel has an id and a place of its own', () => {
  for (const dashboard of dashboards) {
    const document = grafanaDocument(dashboard) as {
      readonly panels: readonly {
        readonly id: number;
        readonly gridPos: { x: number; y: number; w: number; h: number };
      }[];
    }; // our own document
    expect(new Set(document.panels.map(({ id }) => id)).size).toBe(document.panels.length);
    const cells = document.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  }
});
