import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writtenPart } from '@decision/tooling/written-part';
import { chartsFolder, readChartValues, SERVERS, SERVICES, UMBRELLA } from '../src/chart-values';
import { differencesTable, valuesTable } from '../src/values-docs';
import { valuesSchema } from '../src/values-schema';

const PAGE = 'chart-values.md';
const pathsOf = (chart: string): readonly string[] => readChartValues(chart).map(({ path }) => path.join('.'));

it.each([UMBRELLA, ...SERVERS])('docs/chart-values.md shows the values of %s', (chart) => {
  const table = valuesTable(chart);
  expect(writtenPart(PAGE, `values of ${chart}`, table)).toBe(table);
});

it('docs/chart-values.md shows the values of services and if their defaults differ', () => {
  const table = valuesTable('objects-api');
  expect(writtenPart(PAGE, 'values of services', table)).toBe(table);
  const differences = differencesTable();
  expect(writtenPart(PAGE, 'defaults of services', differences)).toBe(differences);
});

it.each(SERVICES)('%s has the values that every service has', (chart) => {
  expect(pathsOf(chart)).toEqual(pathsOf('objects-api'));
});

it.each([UMBRELLA, ...SERVICES, ...SERVERS])('the schema of %s follows from its values', (chart) => {
  const path = join(chartsFolder, chart, 'values.schema.json');
  const schema = `${JSON.stringify(valuesSchema(chart), null, 2)}\n`;
  if (process.env['WRITE_DOCS'] === '1') writeFileSync(path, schema);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(JSON.parse(schema));
});

it.each(SERVERS)('the umbrella repeats values of %s with the same defaults and sentences', (chart) => {
  const own = new Map(readChartValues(chart).map((value) => [value.path.join('.'), value]));
  const repeated = readChartValues(UMBRELLA).filter(({ path: [first] }) => first === chart);
  expect(repeated.length).toBeGreaterThan(0);
  for (const value of repeated) {
    const path = value.path.slice(1);
    expect({ ...value, path }).toEqual(own.get(path.join('.')));
  }
});
