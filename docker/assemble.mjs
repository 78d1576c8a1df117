// node docker/assemble.mjs <service> <directory> [--arch x64|arm64]
//
// Puts everything that one service runs on into a directory of its own: what the build made of it and of the packages that it uses, and their
// dependencies as the lockfile has them, for production alone. No sources, no tests, no tools. The repository must have been built. The directory
// is started with `node dist/main.js`; `sbom.json` in it lists what came from elsewhere.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { componentsOf, toSbom } from './sbom.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

const fail = (sentence) => {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
};

/** Folders of the workspace by the names of their packages. */
const workspaceFolders = () =>
  new Map(
    parse(readFileSync(join(ROOT, 'pnpm-workspace.yaml'), 'utf8'))
      .packages.flatMap((glob) =>
        glob.endsWith('/*')
          ? readdirSync(join(ROOT, glob.slice(0, -2))).map((name) => glob.slice(0, -1) + name)
          : [glob],
      )
      .filter((folder) => existsSync(join(ROOT, folder, 'package.json')))
      .map((folder) => [readJson(join(ROOT, folder, 'package.json')).name, folder]),
  );

/** The folders of a package and of all packages of the workspace that it uses. */
const closureOf = (name, folders) => {
  const found = new Set();
  const visit = (one) => {
    const folder = folders.get(one);
    if (folder === undefined || found.has(folder)) return;
    found.add(folder);
    Object.keys(readJson(join(ROOT, folder, 'package.json')).dependencies ?? {}).forEach(visit);
  };
  visit(name);
  return [...found];
};

/** The lockfile is checked against the manifests of the whole workspace, so all of them are there while dependencies are installed. */
const writeManifests = (directory, folders, arch) => {
  for (const file of ['package.json', 'pnpm-lock.yaml', '.npmrc']) cpSync(join(ROOT, file), join(directory, file));
  for (const folder of folders) {
    mkdirSync(join(directory, folder), { recursive: true });
    cpSync(join(ROOT, folder, 'package.json'), join(directory, folder, 'package.json'));
  }
  const workspace = parse(readFileSync(join(ROOT, 'pnpm-workspace.yaml'), 'utf8'));
  const supportedArchitectures = { os: ['linux'], cpu: [arch], libc: ['glibc'] };
  writeFileSync(join(directory, 'pnpm-workspace.yaml'), stringify({ ...workspace, supportedArchitectures }));
};

const install = (directory, name) => {
  const { packageManager } = readJson(join(ROOT, 'package.json'));
  const options = ['install', '--prod', '--frozen-lockfile', '--prefer-offline', '--ignore-scripts'];
  const { status, stdout, stderr } = spawnSync(
    'npx',
    ['-y', packageManager, ...options, '--filter-prod', `${name}...`],
    {
      cwd: directory,
      encoding: 'utf8',
      // Dependencies are copied: a directory that is packed into an image shares no files with a store.
      env: { ...process.env, CI: 'true', npm_config_package_import_method: 'copy' },
    },
  );
  if (status !== 0) fail(`The dependencies could not be installed.\n${stdout}${stderr}`);
};

/** What packages carry and nothing at run time reads. */
const NEEDLESS = /(?:\.(?:map|md|markdown|[cm]?tsx?|tsbuildinfo)|\.test\.[cm]?js)$/i;
const NEEDLESS_FOLDERS = new Set(['test', 'tests', '__tests__', 'docs', 'example', 'examples', '.github']);

/** Removes needless files below node_modules; a folder of such a name goes only where it lies at the root of a package. */
const prune = (directory) => {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isSymbolicLink()) continue;
    if (entry.isDirectory()) {
      if (NEEDLESS_FOLDERS.has(entry.name) && existsSync(join(directory, 'package.json')))
        rmSync(path, { recursive: true });
      else prune(path);
    } else if (NEEDLESS.test(entry.name)) rmSync(path);
  }
};

/** The service and the programs of its packages have the same path in every image: `dist/main.js`, and below `node_modules/@decision`. */
const link = (directory, service, folders) => {
  symlinkSync(join('services', service, 'dist'), join(directory, 'dist'));
  const own = join(directory, 'node_modules/@decision');
  mkdirSync(own, { recursive: true });
  for (const folder of folders.filter((one) => one.startsWith('packages/')))
    symlinkSync(join('../..', folder), join(own, folder.slice('packages/'.length)));
};

const assemble = (service, directory, arch) => {
  const folders = workspaceFolders();
  const name = `@decision/${service}`;
  if (!folders.get(name)?.startsWith('services/'))
    fail(
      `There is no service ${service}; there are ${[...folders.values()]
        .filter((folder) => folder.startsWith('services/'))
        .map((folder) => folder.slice(9))
        .join(', ')}.`,
    );
  if (existsSync(directory) && readdirSync(directory).length > 0) fail(`${directory} is not empty.`);
  const used = closureOf(name, folders);
  const unbuilt = used.filter((folder) => !existsSync(join(ROOT, folder, 'dist')));
  if (unbuilt.length > 0) fail(`Not built yet: ${unbuilt.join(', ')}. Run "pnpm build" first.`);
  mkdirSync(directory, { recursive: true });
  writeManifests(directory, [...folders.values()], arch);
  install(directory, name);
  for (const folder of folders.values()) {
    if (!used.includes(folder)) rmSync(join(directory, folder), { recursive: true });
    else
      cpSync(join(ROOT, folder, 'dist'), join(directory, folder, 'dist'), {
        recursive: true,
        filter: (path) => !path.endsWith('.map'),
      });
  }
  for (const file of ['pnpm-workspace.yaml', '.npmrc']) rmSync(join(directory, file));
  const lockfile = parse(readFileSync(join(directory, 'pnpm-lock.yaml'), 'utf8'));
  rmSync(join(directory, 'pnpm-lock.yaml'));
  rmSync(join(directory, 'node_modules/.modules.yaml'), { force: true });
  rmSync(join(directory, 'node_modules/.pnpm-workspace-state-v1.json'), { force: true });
  const components = componentsOf(directory, lockfile);
  prune(join(directory, 'node_modules'));
  link(directory, service, used);
  const { version } = readJson(join(directory, 'services', service, 'package.json'));
  writeFileSync(join(directory, 'sbom.json'), `${JSON.stringify(toSbom({ service, version }, components), null, 2)}\n`);
  return { packages: used.length, components: components.length };
};

const [service, target, flag, wanted = process.arch] = process.argv.slice(2);
// Images are named by the words of Docker.
const arch = wanted === 'amd64' ? 'x64' : wanted;
if (service === undefined || target === undefined || (flag !== undefined && flag !== '--arch'))
  fail('Usage: node docker/assemble.mjs <service> <directory> [--arch x64|arm64]');
if (!['x64', 'arm64'].includes(arch)) fail(`There is no image for ${arch}; there are x64 and arm64.`);
const directory = resolve(target);
const { packages, components } = assemble(service, directory, arch);
process.stdout.write(
  `${relative(process.cwd(), directory) || '.'}: ${service}, ${packages} packages of its own, ${components} of others\n`,
);
