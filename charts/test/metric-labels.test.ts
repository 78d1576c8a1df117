import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { chartsFolder } from '../src/chart-values';
import { dashboards } from '../src/dashboards/dashboards';
import { metricsOf } from '../src/dashboards/queried-metrics';

/** Labels that the Prometheus operator gives each series of a ServiceMonitor, beside `service`, which our metrics have themselves. */
const OF_TARGETS = ['namespace', 'pod', 'instance', 'job', 'container', 'endpoint'];
/** What every metric of a service carries, and what a histogram does. */
const OF_EVERY_METRIC = ['service', 'le'];

const administration = readFileSync(join(chartsFolder, '../docs/administration.md'), 'utf8');
/** Own labels by metric, or by the ending of its name, as docs/administration.md has them. */
const documented = [
  ...administration.matchAll(/`((?:decision|http|nodejs|process|usage)?_[a-z0-9_]+)\{([a-z_,]+)\}`/g),
].map(([, name = '', labels = '']) => ({ name, labels: labels.split(',') }));

const labelsOf = (metric: string): readonly string[] =>
  documented
    .filter(({ name }) => name === metric || (name.startsWith('_') && metric.endsWith(name)))
    .flatMap(({ labels }) => labels);

/** Labels that an expression names in matchers and in `by`. */
const namedIn = (expr: string): readonly string[] => [
  ...[...expr.matchAll(/([a-zA-Z_]\w*)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, name = '']) => name),
  ...[...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(',').map((name) => name.trim())),
];

const { groups } = parse(readFileSync(join(chartsFolder, 'decision-service/files/alerts.yaml'), 'utf8')) as {
  readonly groups: readonly {
    readonly rules: readonly { alert: string; expr: string; annotations: { summary: string } }[];
  }[];
};
const alerts = groups
  .flatMap(({ rules }) => rules)
  .map(({ alert, expr, annotations }) => ({
    ...{ name: alert, expr },
    shown: [...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label),
  }));
const panels = dashboards.flatMap(({ name, rows }) =>
  rows.flatMap((row) =>
    row.panels.flatMap(({ title, queries }) =>
      queries.map(({ expr, legend }) => ({
        ...{ name: `${name}: ${title}`, expr },
        shown: [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label),
      })),
    ),
  ),
);

it.each([...alerts, ...panels])('$name asks for labels that there are after a scrape', ({ expr, shown }) => {
  const known = new Set([...OF_TARGETS, ...OF_EVERY_METRIC, ...metricsOf(expr).flatMap(labelsOf)]);
  expect([...namedIn(expr), ...shown].filter((label) => !known.has(label))).toEqual([]);
});

it.each([...alerts, ...panels])('$name shows no label that its query sums away', ({ expr, shown }) => {
  const by = [...expr.matchAll(/\bby \(([^)]*)\)/g)].map(([, list = '']) => list.split(',').map((name) => name.trim()));
  // Without `by` in it a query keeps the labels of its series, or has none.
  const kept = by.length > 0 ? by.flat() : /\b(?:sum|max|min|count)\(/.test(expr) ? [] : undefined;
  expect(kept === undefined ? [] : shown.filter((label) => !kept.includes(label))).toEqual([]);
});

it('no metric has a label of its own that Prometheus gives to targets', () => {
  expect(documented.length).toBeGreaterThan(30);
  expect(documented.filter(({ labels }) => labels.some((label) => [...OF_TARGETS, 'service'].includes(label)))).toEqual(
    [],
  );
});
