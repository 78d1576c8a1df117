// Bundles the service in the working directory into `dist/`: `main.js`, one file for each program in `src/cli`, and one for each thread or process
// that these start from their own folder. A service that is one file starts in half the time of one that loads 2,600 modules.
// Types are not checked here; `pnpm typecheck` does that (decision 80).
import { existsSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { build } from 'esbuild';

const OUTPUT = resolve('dist');

/** Packages that load a file of their own at run time, such as native code: they stay in `node_modules`. */
const LOADING_FILES = new Set([
  '@duckdb/node-api',
  '@jitl/quickjs-wasmfile-release-sync',
  '@node-rs/argon2',
  '@node-rs/crc32',
  'lz4-napi',
  'snappy',
  'swagger-ui-dist',
]);
/** Drivers that the query builder would load for other databases, and that are not installed. */
const NOT_INSTALLED = [
  'better-sqlite3',
  'mariadb/callback',
  'mysql',
  'mysql2',
  'oracledb',
  'pg-native',
  'pg-query-stream',
  'sqlite3',
  'tedious',
];

/** The package of an import such as `@scope/name/file.js`. */
const packageOf = (path) =>
  path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/');

/** A file of a package, by the path that the importing package has for it: the same in the repository and in an image. */
const pathByImporter = (name, importingFolder, file) => {
  for (let folder = importingFolder; ; folder = dirname(folder)) {
    const installed = join(folder, 'node_modules', name);
    if (existsSync(installed)) return join(installed, relative(realpathSync(installed), file));
    if (folder === dirname(folder))
      throw new Error(`${name} was resolved to ${file}, but is not installed above ${importingFolder}.`);
  }
};

const OUTSIDE = Symbol('a package that is left outside');

/**
 * Leaves packages outside a bundle in `folder` that load files, or that a service loads by `import()` only when its configuration needs them.
 */
const leavePackagesOutside = (folder) => ({
  name: 'leave-packages-outside',
  setup: ({ onResolve, resolve: resolvePackage }) => {
    onResolve({ filter: /^[^./]/ }, async ({ path, kind, resolveDir, importer, pluginData }) => {
      const loadsFiles = LOADING_FILES.has(packageOf(path));
      if (pluginData === OUTSIDE || path.startsWith('node:') || path.startsWith('@decision/')) return undefined;
      if (!loadsFiles && kind !== 'dynamic-import') return undefined;
      const found = await resolvePackage(path, {
        kind: loadsFiles && kind === 'import-statement' ? 'require-call' : kind,
        ...{ resolveDir, importer, pluginData: OUTSIDE },
      });
      // A dependency asks in vain for what is optional to it.
      if (found.errors.length > 0 || found.external) return { path, external: true };
      return { path: relative(folder, pathByImporter(packageOf(path), resolveDir, found.path)), external: true };
    });
  },
});

/** Writes a bundle; `output` is its path in the folder of outputs without an extension. */
const bundle = ({ source, output }) =>
  build({
    entryPoints: [source],
    outfile: join(OUTPUT, `${output}.js`),
    ...{ bundle: true, platform: 'node', format: 'cjs', target: 'node20', conditions: ['source'], metafile: true },
    external: NOT_INSTALLED,
    plugins: [leavePackagesOutside(join(OUTPUT, dirname(output)))],
    logLevel: 'warning',
  });

const STARTED = /join\(__dirname, `([\w-]+)\$\{extension\}`\)/g;

/** Entries of the threads and processes that bundles start from their own folder. */
const startedBy = ({ metafile }) =>
  Object.entries(metafile.outputs).flatMap(([path, { inputs }]) =>
    Object.entries(inputs)
      .filter(([source, { bytesInOutput }]) => bytesInOutput > 0 && !source.includes('node_modules'))
      .flatMap(([source]) =>
        [...readFileSync(source, 'utf8').matchAll(STARTED)].map(([, name]) => ({
          source: join(dirname(source), `${name}.ts`),
          output: join(relative(OUTPUT, dirname(path)), name),
        })),
      ),
  );

const programs = existsSync('src/cli') ? readdirSync('src/cli').filter((file) => !file.endsWith('.test.ts')) : [];

rmSync(OUTPUT, { recursive: true, force: true });
let entries = ['main.ts', ...programs.map((file) => `cli/${file}`)].map((file) => ({
  source: join('src', file),
  output: file.replace(/\.ts$/, ''),
}));
while (entries.length > 0) {
  const started = (await Promise.all(entries.map(bundle))).flatMap(startedBy);
  entries = [...new Map(started.map((entry) => [entry.output, entry])).values()];
}
