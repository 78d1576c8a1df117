import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { chartsFolder } from '../src/chart-values';
import { dashboards } from '../src/dashboards/dashboards';
import { metricsOf } from '../src/dashboards/queried-metrics';
import { get, listAt, render, textAt } from './render';
import { buildProgram, findGo, run } from './tools.js';

const withGo = findGo() === undefined ? it.skip : it;

const promtool = (...args: readonly string[]): { readonly ok: boolean; readonly output: string } => {
  const program = buildProgram('promtool');
  if (program === undefined) throw new TypeError('There is no promtool.');
  return run(program, args);
};

withGo('alerts are rules that Prometheus takes', () => {
  const { ok, output } = promtool('check', 'rules', join(chartsFolder, 'decision-service/files/alerts.yaml'));
  expect({ ok, output }).toEqual({ ok: true, output: expect.stringContaining('SUCCESS') as unknown });
});

withGo('each query of the dashboards is one that Prometheus takes', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'dashboards-'));
  const rules = dashboards.flatMap(({ rows }) =>
    rows.flatMap((row) => row.panels.flatMap(({ queries }) => queries.map(({ expr }) => expr))),
  );
  const asked = rules.map((expr, index) => ({
    record: `query:${index}`,
    expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$namespace', '.*'),
  }));
  const file = join(folder, 'queries.yaml');
  await writeFile(file, stringify({ groups: [{ name: 'queries', rules: asked }] }));
  const { ok, output } = promtool('check', 'rules', file);
  await rm(folder, { recursive: true });
  expect({ ok, output }).toEqual({
    ok: true,
    output: expect.stringContaining(`${rules.length} rules found`) as unknown,
  });
});

withGo(
  'the query by which keda reads the wait of requests is one that Prometheus takes, about a metric that there is',
  async () => {
    const trigger = listAt(get(render('keda-prometheus.yaml'), 'ScaledObject', 'solve-worker'), 'spec.triggers').at(-1);
    const expr = textAt(trigger ?? null, 'metadata.query');
    const folder = await mkdtemp(join(tmpdir(), 'query-'));
    const file = join(folder, 'query.yaml');
    await writeFile(file, stringify({ groups: [{ name: 'queries', rules: [{ record: 'query:wait', expr }] }] }));
    const { ok, output } = promtool('check', 'rules', file);
    await rm(folder, { recursive: true });
    expect({ ok, output }).toEqual({ ok: true, output: expect.stringContaining('1 rules found') as unknown });
    expect(metricsOf(expr)).toEqual(['decision_responder_wait_seconds']);
  },
);

withGo('alerts fire where they should, and are silent beside it', () => {
  const { ok, output } = promtool('test', 'rules', join(chartsFolder, 'test/alerts/alerts.test.yaml'));
  expect({ ok, output }).toEqual({ ok: true, output: expect.stringContaining('SUCCESS') as unknown });
});
