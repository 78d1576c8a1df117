import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import ts from 'typescript';

/** One source file of a workspace package and what it imports. */
export interface SourceFile {
  /** Path from the root of the repository, with forward slashes. */
  readonly path: string;
  /** Folder of its package, for instance `packages/engine`. */
  readonly home: string;
  readonly text: string;
  /** Module names as written, type-only imports included. */
  readonly imports: readonly string[];
}

export const repositoryRoot = resolve(__dirname, '../../..');

/** Every package folder below `packages/` and `services/` that has sources. */
export const packageHomes = (): string[] =>
  ['packages', 'services']
    .flatMap((folder) =>
      readdirSync(join(repositoryRoot, folder), { withFileTypes: true }).map((entry) => ({ folder, entry })),
    )
    .filter(({ entry }) => entry.isDirectory() && entry.name !== 'tooling')
    .map(({ folder, entry }) => `${folder}/${entry.name}`);

/** The sources of one package, tests left out. */
export const sourcesOf = (home: string): SourceFile[] =>
  readdirSync(join(repositoryRoot, home, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.endsWith('.d.ts'))
    .map((name) => readSource(home, join(home, 'src', name)));

/** Paths of the files of one package's folder of tests, from the root; none where it has no such folder. */
export const testFilesOf = (home: string): string[] => {
  const folder = join(home, 'test');
  if (!existsSync(join(repositoryRoot, folder))) return [];
  return readdirSync(join(repositoryRoot, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name).split(sep).join('/'));
};

const readSource = (home: string, path: string): SourceFile => {
  const text = readFileSync(join(repositoryRoot, path), 'utf8');
  const imports = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
  return { path: path.split(sep).join('/'), home, text, imports };
};

/** The file that a relative import means, as a path from the root, or undefined where there is none. */
export const resolveImport = (from: SourceFile, name: string, known: ReadonlySet<string>): string | undefined => {
  const target = relative(repositoryRoot, resolve(repositoryRoot, dirname(from.path), name))
    .split(sep)
    .join('/');
  return [`${target}.ts`, `${target}/index.ts`, target].find((candidate) => known.has(candidate));
};
