import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { chartsFolder } from '../src/chart-values';
import { dashboards } from '../src/dashboards/dashboards';
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

withGo('alerts fire where they should, and are silent beside it', () => {
  const { ok, output } = promtool('test', 'rules', join(chartsFolder, 'test/alerts/alerts.test.yaml'));
  expect({ ok, output }).toEqual({ ok: true, output: expect.stringContaining('SUCCESS') as unknown });
});
