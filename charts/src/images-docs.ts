import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { chartsFolder, SERVERS, SERVICES, UMBRELLA } from './chart-values';

/** An image that charts run. */
export interface ChartImage {
  /** Without its registry. */
  readonly name: string;
  /** Empty: that of the services, or none. */
  readonly tag: string;
}

interface ImageValue {
  readonly repository: string;
  readonly tag: string;
}

/** The images that the values of the charts name, with the tags that they have by default, by name. */
export const imagesOfCharts = (): readonly ChartImage[] => {
  const valuesOf = (chart: string): Readonly<Record<string, unknown>> =>
    parse(readFileSync(join(chartsFolder, chart, 'values.yaml'), 'utf8')) as Record<string, unknown>; // its schema says so
  const { mqBridge } = valuesOf(UMBRELLA);
  return [...[...SERVICES, ...SERVERS].map(valuesOf), mqBridge]
    .map((values) => (values as { readonly image: ImageValue }).image) // in all of them
    .map(({ repository, tag }) => ({ name: repository, tag }))
    .sort(byName);
};

/** The images of the table in `docs/images.md`, by name. Tags are there in code; a word about a tag is none. */
export const imagesOfPage = (): readonly ChartImage[] => {
  const page = readFileSync(join(chartsFolder, '../docs/images.md'), 'utf8');
  const [, section = ''] = /\n## Images of a cluster\n([\s\S]*?)\n## /.exec(page) ?? [];
  return [...section.matchAll(/^\| `([^`]+)` *\| (?:`([\d.]+)`)?/gm)]
    .map(([, name = '', tag = '']) => ({ name, tag }))
    .sort(byName);
};

const byName = (one: ChartImage, other: ChartImage): number => (one.name < other.name ? -1 : 1);
