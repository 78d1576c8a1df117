import { join } from 'node:path';
import { chartsFolder } from '../src/chart-values';
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

withGo('alerts fire where they should, and are silent beside it', () => {
  const { ok, output } = promtool('test', 'rules', join(chartsFolder, 'test/alerts/alerts.test.yaml'));
  expect({ ok, output }).toEqual({ ok: true, output: expect.stringContaining('SUCCESS') as unknown });
});
