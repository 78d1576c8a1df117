import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
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

const table = (): string => {
  const rows = Object.entries(LAYERS).map(([home, imported]) => [
    `\`${home}\`${PURE.includes(home) ? ' (pure)' : ''}`,
    descriptionOf(home),
    imported.join(', ') || 'none',
  ]);
  const all = [['folder', 'contents', 'imports'], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const rule = line(widths.map((width) => '-'.repeat(width)));
  return [line(all[0] ?? []), rule, ...rows.map(line)].join('\n');
};

it('docs/architecture.md shows the layers that the architecture test enforces', () => {
  const part = `${picture()}\n\n${table()}`;
  expect(writtenPart('architecture.md', 'packages', part)).toBe(part);
});
