import { type ChartValue, readChartValues, SERVICES, UMBRELLA } from './chart-values';

/** The table of the values of a chart. Those of the umbrella's parts stand in the tables of the parts. */
export const valuesTable = (chart: string): string => {
  const values = readChartValues(chart);
  const own = chart === UMBRELLA ? values.filter(({ path: [first = ''] }) => !isPart(first)) : values;
  return tableOf(['value', 'default', 'meaning'], own.map(rowOf));
};

/** The defaults in which services differ from the first of them. */
export const differencesTable = (): string => {
  const all = SERVICES.map((name) => readChartValues(name));
  const [first = []] = all;
  const rows = first.flatMap(({ path }) => {
    const shown = all.map((values) => show(values.find((value) => value.path.join('.') === path.join('.'))));
    return new Set(shown).size === 1 ? [] : [[`\`${path.join('.')}\``, ...shown]];
  });
  return tableOf(['value', ...SERVICES], rows);
};

const PARTS: ReadonlySet<string> = new Set([...SERVICES, 'mq', 'cache', 'database']);
const isPart = (name: string): boolean => PARTS.has(name);

const rowOf = (value: ChartValue): readonly string[] => [
  `\`${value.path.join('.')}\``,
  show(value),
  `${value.meaning}${acceptsOf(value)}`.replaceAll('|', '\\|'),
];

const acceptsOf = ({ schema }: ChartValue): string => {
  const choices = schema?.['enum'];
  return Array.isArray(choices) ? ` One of ${choices.map((choice) => JSON.stringify(choice)).join(', ')}.` : '';
};

const show = (value: ChartValue | undefined): string =>
  value === undefined ? '' : `\`${JSON.stringify(value.default).replaceAll('|', '\\|')}\``;

const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
