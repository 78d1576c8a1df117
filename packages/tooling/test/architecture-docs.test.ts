import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Connection, CONNECTIONS, SERVERS, STRANGERS } from '@decision/tooling/connections';
import { writtenPart } from '@decision/tooling/written-part';
import { LAYERS, PURE } from './layers';
import { repositoryRoot } from './source-tree';

const descriptionOf = (home: string): string => {
  const manifest = readFileSync(join(repositoryRoot, home, 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { description: string }).description.replace(/\.$/, '');
};

/** Imports that no other import implies: an arrow to each of them shows the rest as well. */
const arrowsOf = (home: string): readonly string[] => {
  const imported = LAYERS[home] ?? [];
  const implied = new Set(imported.flatMap((name) => reachableFrom(name)));
  return imported.filter((name) => !implied.has(name));
};

const reachableFrom = (name: string): string[] =>
  (LAYERS[`packages/${name}`] ?? []).flatMap((below) => [below, ...reachableFrom(below)]);

const picture = (): string => {
  const nodes = Object.keys(LAYERS).map((home) => `  ${basename(home)}${home.startsWith('services/') ? `([${basename(home)}])` : ''}`); // prettier-ignore
  const arrows = Object.keys(LAYERS).flatMap((home) => arrowsOf(home).map((name) => `  ${basename(home)} --> ${name}`));
  return ['```mermaid', 'flowchart TD', ...nodes, ...arrows, '```'].join('\n');
};

const layersTable = (): string => {
  const rows = Object.entries(LAYERS).map(([home, imported]) => [
    `\`${home}\`${PURE.includes(home) ? ' (pure)' : ''}`,
    descriptionOf(home),
    imported.join(', ') || 'none',
  ]);
  return table([['folder', 'contents', 'imports'], ...rows]);
};

/** A table as the formatter writes it; the first row is its head. */
const table = (all: readonly (readonly string[])[]): string => {
  const widths = (all[0] ?? []).map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const rule = line(widths.map((width) => '-'.repeat(width)));
  return [line(all[0] ?? []), rule, ...all.slice(1).map(line)].join('\n');
};

const connectionsPicture = (): string => {
  const shape = (name: string): string =>
    name in SERVERS ? `[(${SERVERS[name] ?? ''})]` : name in STRANGERS ? `([${STRANGERS[name] ?? ''}])` : `[${name}]`;
  const names = new Set(CONNECTIONS.flatMap(({ from, to }) => [...from, ...to]));
  const nodes = [...names].map((name) => `  ${name}${shape(name)}`);
  const arrow = ({ from, to, carries, onlyWith }: Connection): string =>
    `  ${from.join(' & ')} ${onlyWith === undefined ? '-->' : '-.->'}|${carries}| ${to.join(' & ')}`;
  return ['```mermaid', 'flowchart LR', ...nodes, ...CONNECTIONS.map(arrow), '```'].join('\n');
};

const connectionsTable = (): string => {
  const shown = (names: readonly string[]): string =>
    names.map((name) => SERVERS[name] ?? STRANGERS[name] ?? name).join(', ');
  const rows = CONNECTIONS.map(({ from, to, carries, onlyWith }) => [
    ...[shown(from), shown(to), carries],
    onlyWith === undefined ? '' : `\`${onlyWith}\``,
  ]);
  return table([['from', 'to', 'for', 'only with'], ...rows]);
};

it('docs/architecture.md shows the layers that the architecture test enforces', () => {
  const part = `${picture()}\n\n${layersTable()}`;
  expect(writtenPart('architecture.md', 'packages', part)).toBe(part);
});

it('docs/architecture.md shows who talks to whom', () => {
  const part = `${connectionsPicture()}\n\n${connectionsTable()}`;
  expect(writtenPart('architecture.md', 'connections', part)).toBe(part);
});

const services = Object.keys(LAYERS)
  .filter((home) => home.startsWith('services/'))
  .map((home) => basename(home));

it.each(services)('%s has the settings of the servers that it talks to, and of no others', (service) => {
  const page = readFileSync(join(repositoryRoot, 'docs/configuration.md'), 'utf8');
  const settings = page.split(`<!-- written: settings of ${service} -->`)[1]?.split('<!-- end of')[0] ?? '';
  const served = CONNECTIONS.filter(({ from, onlyWith }) => from.includes(service) && onlyWith === undefined)
    .flatMap(({ to }) => to)
    .filter((name) => name in SERVERS);
  const settingOf = { mq: 'MQ_BROKERS', cache: 'CACHE_URL', database: 'DATABASE_URL' };
  const configured = Object.entries(settingOf).filter(([, setting]) => settings.includes(`| \`${setting}\` |`));
  expect(configured.map(([name]) => name).sort()).toEqual([...served].sort());
});
