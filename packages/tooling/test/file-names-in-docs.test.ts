import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from './source-tree';

const FILE_NAME = /`([\w./@-]+\.(?:ts|mjs|cjs|js|json|yaml))`/g;
/** Addresses of the API, and files that running the project writes. */
const NOT_KEPT = /^(\/|\.local\/|test-results\/|locations\.json$)/;

const NOT_OURS = new Set(['node_modules', 'dist', 'test-results', '.git', '.local', '.turbo']);

/** Paths of all files of the project below a folder. */
const filesBelow = (folder: string): string[] =>
  readdirSync(join(repositoryRoot, folder), { withFileTypes: true })
    .filter(({ name }) => !NOT_OURS.has(name))
    .flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      return entry.isDirectory() ? filesBelow(path) : [path];
    });

const ours = filesBelow('');

const isOurs = (name: string): boolean => {
  const path = name.replace(/^(\.\.?\/)+/, '');
  return ours.some((file) => file === path || file.endsWith(`/${path}`));
};

it.each(ours.filter((file) => file.endsWith('.md')))('%s names files that exist', (page) => {
  const text = readFileSync(join(repositoryRoot, page), 'utf8');
  const names = [...text.matchAll(FILE_NAME)].map(([, name = '']) => name);
  expect(names.filter((name) => !NOT_KEPT.test(name) && !isOurs(name))).toEqual([]);
});
