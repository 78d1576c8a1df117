import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { chartsFolder, readChartValues, SERVERS, SERVICES, UMBRELLA } from '../src/chart-values';
import { imagesOfCharts, imagesOfPage } from '../src/images-docs';

const root = join(chartsFolder, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const OWN_TEMPLATES = 'charts/decision-service/templates';

/** Cells of the rows of the table about the specification. */
const rows = (): readonly (readonly [string, string])[] => {
  const [, section = ''] =
    /\n## What the specification says, and where it is done\n([\s\S]*?)\n## /.exec(read('docs/operating/install.md')) ??
    [];
  return section
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter((cells) => cells.length === 4 && !/^-*$/.test(cells[2] ?? ''))
    .slice(1)
    .map(([, said = '', done = '']) => [said, done]);
};

const quoted = (text: string): readonly string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, token = '']) => token);

/** Files that are named in a cell, each with the definitions that are named behind it. */
const filesIn = (cell: string): readonly { readonly path: string; readonly definitions: readonly string[] }[] => {
  const files: { path: string; definitions: string[] }[] = [];
  for (const token of quoted(cell)) {
    if (/\.(?:tpl|yaml|ts)$/.test(token))
      files.push({ path: token.includes('/') ? token : `${OWN_TEMPLATES}/${token}`, definitions: [] });
    else if (/^(?:umbrella|decision)\.\w+$/.test(token)) files.at(-1)?.definitions.push(token);
  }
  return files;
};

describe('the table that leads from the specification to the charts', () => {
  it('has a place for each sentence, and names files and definitions that exist', () => {
    expect(rows().length).toBeGreaterThan(40);
    for (const [said, done] of rows()) expect({ said, files: filesIn(done).length > 0 }).toEqual({ said, files: true });
    const wrong = rows().flatMap(([, done]) =>
      filesIn(done).flatMap(({ path, definitions }) => {
        if (!existsSync(join(root, path))) return [path];
        const text = read(path);
        return definitions
          .filter((name) => !text.includes(`{{- define "${name}" -}}`))
          .map((name) => `${path}: ${name}`);
      }),
    );
    expect(wrong).toEqual([]);
  });

  it('leaves no template of the umbrella out that carries something of it', () => {
    const named = new Set(rows().flatMap(([, done]) => filesIn(done).map(({ path }) => path)));
    // Alerts, dashboards, tests and routes of one implementation each are no part of the specification.
    const ours = [
      'NOTES.txt',
      'alerts.yaml',
      'dashboards.yaml',
      'tests.yaml',
      'ingress-plain.yaml',
      'ingress-traefik.yaml',
    ];
    const all = readdirSync(join(root, OWN_TEMPLATES)).filter((file) => !ours.includes(file));
    expect(all.filter((file) => !named.has(`${OWN_TEMPLATES}/${file}`))).toEqual([]);
  });

  it('names values that exist', () => {
    const known = [UMBRELLA, ...SERVICES, ...SERVERS].flatMap((chart) =>
      readChartValues(chart).map(({ path }) => [...(chart === UMBRELLA ? [] : [chart]), ...path].join('.')),
    );
    const prefix =
      /^(?:global|app|hps|mq|mqBridge|cache|database|topics|migrations|ingress|(?:objects|contexts)-api|hps-gateway|solve-worker|log-collector)\.[\w.]+/;
    const named = rows()
      .flatMap((row) => row.flatMap(quoted))
      .flatMap((token) => prefix.exec(token)?.[0] ?? []);
    const values = named.filter((token) => !/\.(?:yaml|tpl)$/.test(token)).map((token) => token.replace(/\.$/, ''));
    expect(values.length).toBeGreaterThan(20);
    expect(values.filter((value) => !known.some((path) => path === value || path.startsWith(`${value}.`)))).toEqual([]);
  });
});

describe('images', () => {
  it('of the charts are those of the documentation, with their tags', () => {
    expect(imagesOfPage()).toEqual(imagesOfCharts());
  });

  it('of the Compose file that the project does not build are those of the charts', () => {
    const { services } = parse(read('docker/compose.yaml')) as {
      readonly services: Readonly<Record<string, { readonly image?: string }>>; // our own file; compose-go checks its form
    };
    const charts = new Map(imagesOfCharts().map(({ name, tag }) => [name, `${name}:${tag}`]));
    for (const [service, name] of [
      ['database', 'postgres'],
      ['cache', 'redis'],
      ['broker', 'apache/kafka'],
    ] as const)
      expect(services[service]?.image).toBe(charts.get(name));
  });
});

it('the broker of the Compose file takes and copies messages as large as that of the chart', () => {
  const { services } = parse(read('docker/compose.yaml')) as {
    readonly services: Readonly<Record<string, { readonly environment: Readonly<Record<string, string>> }>>; // as above
  };
  const { messageMaxBytes, replicaFetchMaxBytes } = parse(read('charts/mq/values.yaml')) as Readonly<
    Record<string, number>
  >; // checked by its schema
  expect(services['broker']?.environment).toMatchObject({
    KAFKA_MESSAGE_MAX_BYTES: String(messageMaxBytes),
    KAFKA_REPLICA_FETCH_MAX_BYTES: String(replicaFetchMaxBytes),
    KAFKA_REPLICA_FETCH_RESPONSE_MAX_BYTES: String(replicaFetchMaxBytes),
    KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
  });
});
