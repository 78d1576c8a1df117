import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { LAYERS, PURE } from './layers';
import { packageHomes, repositoryRoot, resolveImport, type SourceFile, sourcesOf, testFilesOf } from './source-tree';

const IMPURE_TEXT =
  /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bprocess\.|\bsetTimeout\(|\bsetInterval\(|\bfetch\(|\bperformance\./;

/** Migrations are read in the order of their numbers, and never edited: one folder shows that order, and groups would hide it. */
const isNotOfMigrations = (folder: string): boolean => !folder.endsWith('/migrations');

const crowdedAmong = (paths: readonly string[]): string[] => {
  const counts = new Map<string, number>();
  for (const folder of paths.map((path) => dirname(path))) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > 20).map(([folder]) => folder);
};

const NAMELESS_DRAWERS = /(^|[/.-])(utils?|helpers?|common|misc)([/.-]|$)/;

const homes = packageHomes();
const sources = homes.flatMap(sourcesOf);
const workspaceImports = (file: SourceFile): string[] => file.imports.filter((name) => name.startsWith('@decision/'));
const shortName = (name: string): string => name.replace('@decision/', '');

const manifestOf = (home: string): { dependencies?: Record<string, string> } =>
  JSON.parse(readFileSync(join(repositoryRoot, home, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>;
  };

describe('the layers', () => {
  it('name every package and every service, and nothing else', () => {
    expect(Object.keys(LAYERS).sort()).toEqual([...homes].sort());
    expect(sources.length).toBeGreaterThan(100);
  });

  it('stand on each other: every package comes after those that it imports', () => {
    const order = Object.keys(LAYERS);
    const below = (home: string, name: string): boolean => order.indexOf(`packages/${name}`) < order.indexOf(home);
    const wrong = Object.entries(LAYERS).flatMap(([home, names]) => names.filter((name) => !below(home, name)));
    expect(wrong).toEqual([]);
  });
});

describe.each(homes)('%s', (home) => {
  const files = sourcesOf(home);

  it('imports the packages of its layer, and no other', () => {
    const imported = new Set(files.flatMap(workspaceImports).map(shortName));
    expect([...imported].sort()).toEqual([...(LAYERS[home] ?? [])].sort());
  });

  it('declares the workspace packages that it imports, and no other', () => {
    const imported = new Set(files.flatMap(workspaceImports));
    const declared = Object.keys(manifestOf(home).dependencies ?? {}).filter((name) => name.startsWith('@decision/'));
    expect([...imported].sort()).toEqual(declared.sort());
  });

  it('declares every published package that it imports', () => {
    const declared = Object.keys(manifestOf(home).dependencies ?? {});
    const outside = files.flatMap((file) => file.imports).filter((name) => !/^(\.|node:|@decision\/)/.test(name));
    const undeclared = [...new Set(outside)].filter(
      (name) => !declared.some((known) => name === known || name.startsWith(`${known}/`)),
    );
    expect(undeclared).toEqual([]);
  });

  it('enters other packages by their front door', () => {
    const deep = files.flatMap((file) => workspaceImports(file).filter((name) => name.split('/').length > 2));
    expect(deep).toEqual([]);
  });

  it('stays inside itself with relative imports', () => {
    const own = new Set(files.map(({ path }) => path));
    const leaving = files.flatMap((file) =>
      file.imports
        .filter(
          (name) => name.startsWith('.') && !name.endsWith('.json') && resolveImport(file, name, own) === undefined,
        )
        .map((name) => `${file.path} imports ${name}`),
    );
    expect(leaving).toEqual([]);
  });

  it('has at most twenty files in a folder of sources, migrations aside', () => {
    expect(crowdedAmong(files.map(({ path }) => path)).filter(isNotOfMigrations)).toEqual([]);
  });

  it('has at most twenty files in a folder of tests', () => {
    expect(crowdedAmong(testFilesOf(home))).toEqual([]);
  });

  it('has folders that import one way', () => {
    expect(findCycle(foldersOf(files))).toBeUndefined();
  });

  it('has no drawer named utils, helpers, common or misc', () => {
    expect(files.map(({ path }) => path.replace(/\.ts$/, '')).filter((path) => NAMELESS_DRAWERS.test(path))).toEqual(
      [],
    );
  });
});

describe.each(PURE)('%s is pure', (home) => {
  it('imports nothing of the platform', () => {
    const wrong = sourcesOf(home).flatMap((file) =>
      file.imports.filter((name) => name.startsWith('node:')).map((name) => `${file.path}: ${name}`),
    );
    expect(wrong).toEqual([]);
  });

  it('asks no clock, no chance and no process', () => {
    const wrong = sourcesOf(home).filter(({ text }) => IMPURE_TEXT.test(withoutComments(text)));
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });
});

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');

describe('services', () => {
  it.each(homes.filter((home) => home.startsWith('services/')))('%s has the usual rooms', (home) => {
    const paths = sourcesOf(home).map(({ path }) => path.slice(home.length + 1));
    expect(paths).toEqual(expect.arrayContaining(['src/main.ts', 'src/app.ts', 'src/config.ts']));
    expect(paths.some((path) => path.startsWith('src/routes/'))).toBe(true);
  });
});

describe('imports between files', () => {
  it('have no cycle', () => {
    expect(findCycle(sources)).toBeUndefined();
  });

  it('would be caught if they had one', () => {
    const file = (path: string, ...imports: string[]): SourceFile => ({ path, home: 'packages/x', text: '', imports });
    expect(findCycle([file('p/a.ts', './b'), file('p/b.ts', './c'), file('p/c.ts', './a')])).toEqual([
      'p/a.ts',
      'p/b.ts',
      'p/c.ts',
      'p/a.ts',
    ]);
    expect(findCycle([file('p/a.ts', './b'), file('p/b.ts')])).toBeUndefined();
  });

  it('would be caught between folders', () => {
    const file = (path: string, ...imports: string[]): SourceFile => ({ path, home: 'packages/x', text: '', imports });
    const low = file('packages/x/src/low/a.ts', '../root');
    const high = file('packages/x/src/high/b.ts', '../low/a');
    const root = file('packages/x/src/root.ts', './high/b');
    expect(findCycle(foldersOf([low, high, root]))).toBeUndefined();
    const back = file('packages/x/src/low/c.ts', '../high/b');
    expect(findCycle(foldersOf([low, high, root, back]))).toHaveLength(3);
  });
});

/**
 * The folders directly below `src` as if each were a file that imports the others. Files beside them, such as `index.ts`, are left out: they join
 * folders, or lie below all of them.
 */
const foldersOf = (files: readonly SourceFile[]): SourceFile[] => {
  const known = new Set(files.map(({ path }) => path));
  const folders = new Map<string, Set<string>>();
  for (const file of files) {
    const folder = folderBelowSource(file.path);
    if (folder === undefined) continue;
    const imported = folders.get(folder) ?? new Set();
    folders.set(folder, imported);
    for (const name of file.imports.filter((written) => written.startsWith('.'))) {
      const other = folderBelowSource(resolveImport(file, name, known) ?? '');
      if (other !== undefined && other !== folder) imported.add(`./${basename(other)}`);
    }
  }
  return [...folders].map(([path, imports]) => ({ path, home: '', text: '', imports: [...imports] }));
};

const folderBelowSource = (path: string): string | undefined => /^[^/]+\/[^/]+\/src\/[^/]+(?=\/)/.exec(path)?.[0];

/** The first cycle of relative imports, as the files along it, or undefined. */
const findCycle = (files: readonly SourceFile[]): string[] | undefined => {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const known = new Set(byPath.keys());
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): string[] | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    const file = byPath.get(path);
    if (done.has(path) || file === undefined) return undefined;
    for (const name of file.imports.filter((imported) => imported.startsWith('.'))) {
      const cycle = visit(resolveImport(file, name, known) ?? '', [...trail, path]);
      if (cycle) return cycle;
    }
    done.add(path);
    return undefined;
  };
  for (const path of known) {
    const cycle = visit(path, []);
    if (cycle) return cycle;
  }
  return undefined;
};
