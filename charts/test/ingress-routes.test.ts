import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ingressRoutes } from '@decision/contracts';
import { parse } from 'yaml';
import { chartsFolder } from '../src/chart-values';

it('the chart has the routes of the contract, in their order', () => {
  const template = readFileSync(join(chartsFolder, 'decision-service/templates/_routes.tpl'), 'utf8');
  const list = /\{\{- define "umbrella\.routes" -\}\}\n([\s\S]*?)\{\{- end -\}\}/.exec(template)?.[1] ?? '';
  expect(parse(list)).toEqual(ingressRoutes);
});
