/* Dashboards of Grafana, from descriptions that fit on a page each. */

/** Units as Grafana names them. */
type Unit = 'reqps' | 'ops' | 's' | 'ms' | 'bytes' | 'Bps' | 'percentunit' | 'short' | 'none';

interface Query {
  /** PromQL. `$__rate_interval` is Grafana's. */
  readonly expr: string;
  /** Name of a series, with labels in `{{ }}`. */
  readonly legend: string;
}

interface Panel {
  readonly title: string;
  /** What a bad value means and what to do, in a sentence or two. */
  readonly means: string;
  readonly unit: Unit;
  readonly queries: readonly Query[];
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

export interface Dashboard {
  /** Name of the file, and end of the uid. */
  readonly name: string;
  readonly title: string;
  readonly rows: readonly Row[];
}

/** Series of the namespaces that are chosen, and of the matchers given, such as `service="hps-gateway"`. */
export const series = (metric: string, ...matchers: readonly string[]): string =>
  `${metric}{${['namespace=~"$namespace"', ...matchers].join(', ')}}`;

/** Legend of series that each process has of its own. */
export const each = '{{service}} {{instance}}';

/** Increase a second, summed by labels. */
export const rate = (metric: string, by: readonly string[], ...matchers: readonly string[]): string =>
  `sum by (${by.join(', ')}) (rate(${series(metric, ...matchers)}[$__rate_interval]))`;

/** A quantile of a histogram, by labels. */
export const quantile = (
  part: number,
  histogram: string,
  by: readonly string[],
  ...matchers: readonly string[]
): string => `histogram_quantile(${part}, ${rate(`${histogram}_bucket`, ['le', ...by], ...matchers)})`;

/** The median and the slowest hundredth of a histogram, by labels. */
export const quantiles = (histogram: string, by: readonly string[], ...matchers: readonly string[]): readonly Query[] =>
  [0.5, 0.99].map((part) => ({
    expr: quantile(part, histogram, by, ...matchers),
    legend: [...by.map((label) => `{{${label}}}`), `p${part * 100}`].join(' '),
  }));

const SOURCE = { type: 'prometheus', uid: '${source}' } as const;
const [WIDTH, HEIGHT, ACROSS] = [8, 8, 3];

const panelOf = ({ title, means, unit, queries }: Panel, id: number, x: number, y: number): object => ({
  ...{ id, type: 'timeseries', title, description: means, datasource: SOURCE },
  gridPos: { x, y, w: WIDTH, h: HEIGHT },
  fieldConfig: { defaults: { unit, min: 0, custom: { showPoints: 'never', fillOpacity: 5 } }, overrides: [] },
  options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
  targets: queries.map(({ expr, legend }, index) => ({
    ...{ refId: String.fromCharCode(65 + index), datasource: SOURCE, expr, legendFormat: legend },
  })),
});

const variable = (name: string, label: string, more: object): object => ({ name, label, hide: 0, ...more });

/** The document that Grafana imports. */
export const grafanaDocument = ({ name, title, rows }: Dashboard): object => {
  const panels: object[] = [];
  let y = 0;
  for (const row of rows) {
    panels.push({
      ...{ id: panels.length + 1, type: 'row', title: row.title, collapsed: false, panels: [] },
      gridPos: { x: 0, y, w: WIDTH * ACROSS, h: 1 },
    });
    y += 1;
    row.panels.forEach((panel, index) => {
      const [column, line] = [index % ACROSS, Math.floor(index / ACROSS)];
      panels.push(panelOf(panel, panels.length + 1, column * WIDTH, y + line * HEIGHT));
    });
    y += Math.ceil(row.panels.length / ACROSS) * HEIGHT;
  }
  return {
    ...{ uid: `decision-${name}`, title: `Decision service: ${title}`, tags: ['decision-service'] },
    ...{ schemaVersion: 39, version: 1, editable: true, graphTooltip: 1, refresh: '30s', timezone: 'browser' },
    time: { from: 'now-1h', to: 'now' },
    links: [
      { title: 'Decision service', type: 'dashboards', tags: ['decision-service'], asDropdown: true, keepTime: true },
    ],
    templating: {
      list: [
        variable('source', 'Data source', { type: 'datasource', query: 'prometheus' }),
        variable('namespace', 'Namespace', {
          ...{ type: 'query', datasource: SOURCE, query: 'label_values(http_requests_in_flight, namespace)' },
          // Also series that have no such label, as outside of Kubernetes.
          ...{ refresh: 2, includeAll: true, multi: true, allValue: '.*', current: { text: 'All', value: '$__all' } },
        }),
      ],
    },
    panels,
  };
};
