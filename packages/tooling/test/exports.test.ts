import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageHomes, repositoryRoot, sourcesOf } from './source-tree';

/** Exports that nobody imports, each with the reason for it. */
const PUBLIC: Readonly<Record<string, string>> = {
  contextProblemCodes: 'the catalogue of codes that problems of a definition may have, for readers',
  formulaProblemCodes: 'the catalogue of codes that problems of a formula may have, for readers',
};

const EXPORTED =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|function|class|interface|type|enum) ([A-Za-z_$][\w$]*)/gm;

const isBuilt = (name: string): boolean => ['node_modules', 'dist', 'test-results', '.turbo'].includes(name);

const codeBelow = (folder: string): string[] =>
  readdirSync(join(repositoryRoot, folder), { withFileTypes: true })
    .filter(({ name }) => !isBuilt(name))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      return entry.isDirectory() ? codeBelow(path) : [path];
    })
    .filter((path) => /\.(ts|mjs|js)$/.test(path));

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, '');

/** An index passes names on and uses none. */
const users = ['packages', 'services', 'tests-e2e', 'benchmarks', 'charts']
  .flatMap(codeBelow)
  .filter((path) => !path.endsWith('/src/index.ts'))
  .map((path) => {
    const text = withoutComments(readFileSync(join(repositoryRoot, path), 'utf8'));
    return { path, words: new Set(text.match(/[A-Za-z_$][\w$]*/g)) };
  });

const filesWith = new Map<string, Set<string>>();
for (const { path, words } of users)
  for (const word of words) filesWith.set(word, (filesWith.get(word) ?? new Set()).add(path));

const isUsedBeside = (path: string, name: string): boolean =>
  [...(filesWith.get(name) ?? [])].some((user) => user !== path);

describe.each(packageHomes())('%s', (home) => {
  it('exports nothing that no other file uses', () => {
    const unused = sourcesOf(home).flatMap(({ path, text }) =>
      [...text.matchAll(EXPORTED)]
        .map(([, name = '']) => name)
        .filter((name) => !isUsedBeside(path, name) && !(name in PUBLIC))
        .map((name) => `${path}: ${name}`),
    );
    expect(unused).toEqual([]);
  });
});

it('would find an export that no other file uses', () => {
  expect(isUsedBeside('packages/tooling/test/source-tree.ts', 'packageHomes')).toBe(true);
  expect(isUsedBeside('packages/tooling/test/exports.test.ts', 'codeBelow')).toBe(false);
});
