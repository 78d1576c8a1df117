import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageHomes, repositoryRoot, sourcesOf } from './source-tree';

/** Exports that nobody imports, each with the reason for it. */
const PUBLIC: Readonly<Record<string, string>> = {
  contextProblemCodes: 'the catalogue of codes that problems of a definition may have, for readers',
  formulaProblemCodes: 'the catalogue of codes that problems of a formula may have, for readers',
};

/** Exports that tests alone use, each with the reason for it. */
const FOR_TESTS: Readonly<Record<string, string>> = {
  dropDatabase: 'the counterpart of createDatabase, by which tests leave nothing behind',
  evaluateMany: 'answers several inputs of one table at once, for programs that embed the engine',
  exampleFields: 'what the examples of the catalogue of functions read, by which its test evaluates each',
  exampleNow: 'the moment of the examples of the catalogue of functions',
  findContextRevision: 'the count that lockContextWorld raises, by which its test sees that it does',
  settingsTable: 'writes the settings of each service into docs/configuration.md, which is done by a test',
};

/** Packages whose purpose is to be used by tests. */
const TEST_PACKAGES: ReadonlySet<string> = new Set(['packages/local-stack']);

const isTestCode = (path: string): boolean => /\.test\.ts$|\/(test|testing)\/|^(tests-e2e|benchmarks)\//.test(path);

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
    return { path, words: text.match(/[A-Za-z_$][\w$]*/g) ?? [] };
  });

const filesWith = new Map<string, Set<string>>();
/** How often code that is no test has a name, where it is declared too. */
const mentions = new Map<string, number>();
for (const { path, words } of users)
  for (const word of words) {
    filesWith.set(word, (filesWith.get(word) ?? new Set()).add(path));
    if (!isTestCode(path)) mentions.set(word, (mentions.get(word) ?? 0) + 1);
  }

const isUsedBeside = (path: string, name: string): boolean =>
  [...(filesWith.get(name) ?? [])].some((user) => user !== path);

/** The exports of a file; a constant and a type of one name count twice. */
const exportsOf = (text: string): string[] =>
  [...withoutComments(text).matchAll(EXPORTED)].map(([, name = '']) => name);

const isUsedOutsideTests = (name: string, text: string): boolean =>
  (mentions.get(name) ?? 0) > exportsOf(text).filter((other) => other === name).length;

describe.each(packageHomes())('%s', (home) => {
  it('exports nothing that no other file uses', () => {
    const unused = sourcesOf(home).flatMap(({ path, text }) =>
      exportsOf(text)
        .filter((name) => !isUsedBeside(path, name) && !(name in PUBLIC))
        .map((name) => `${path}: ${name}`),
    );
    expect(unused).toEqual([]);
  });

  it('exports nothing that only tests use', () => {
    if (TEST_PACKAGES.has(home)) return;
    const onlyTested = sourcesOf(home)
      .filter(({ path }) => !isTestCode(path) && !path.endsWith('/src/index.ts'))
      .flatMap(({ path, text }) =>
        exportsOf(text)
          .filter((name) => !isUsedOutsideTests(name, text) && !(name in PUBLIC) && !(name in FOR_TESTS))
          .map((name) => `${path}: ${name}`),
      );
    expect(onlyTested).toEqual([]);
  });
});

it('would find an export that no other file uses', () => {
  expect(isUsedBeside('packages/tooling/test/source-tree.ts', 'packageHomes')).toBe(true);
  expect(isUsedBeside('packages/tooling/test/exports.test.ts', 'codeBelow')).toBe(false);
});

it('would find an export that only tests use', () => {
  const text = 'export const exampleNow = 1;';
  expect(isUsedOutsideTests('exampleNow', text)).toBe(false);
  expect(isUsedOutsideTests('ServiceError', 'export class ServiceError {}')).toBe(true);
});
