import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { chartsFolder } from '../src/chart-values';
import { metricsOf } from '../src/dashboards/queried-metrics';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}
interface Case {
  readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts: readonly object[] }[];
}

const read = (path: string): string => readFileSync(join(chartsFolder, path), 'utf8');
const { groups } = parse(read('decision-service/files/alerts.yaml')) as {
  groups: readonly { rules: readonly Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);
const { tests } = parse(read('test/alerts/alerts.test.yaml')) as { tests: readonly Case[] };
const administration = read('../docs/administration.md');
const runbooks = read('../docs/runbooks.md');

/** Metrics of the runtime, which every process exports. */
const OF_THE_RUNTIME: readonly string[] = ['nodejs_eventloop_lag_p99_seconds'];

it.each(rules.map((rule) => [rule.alert, rule] as const))('%s asks about metrics that there are', (_name, rule) => {
  const metrics = metricsOf(rule.expr);
  expect(metrics.length).toBeGreaterThan(0);
  const known = (metric: string): boolean =>
    OF_THE_RUNTIME.includes(metric) || new RegExp(`\`${metric}[{\`]`).test(administration);
  expect(metrics.filter((metric) => !known(metric))).toEqual([]);
});

it.each(rules.map(({ alert }) => alert))(
  '%s has a runbook, a case in which it fires, and one in which it is silent',
  (alert) => {
    expect(runbooks).toContain(`\n## ${alert}\n`);
    const cases = tests.flatMap(({ alert_rule_test: asked }) => asked).filter(({ alertname }) => alertname === alert);
    expect(cases.map(({ exp_alerts: fired }) => fired.length > 0).sort()).toEqual([false, true]);
  },
);

it('the page of runbooks names no alert that does not exist', () => {
  const named = [...runbooks.matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
  expect(named).toEqual(rules.map(({ alert }) => alert));
});
