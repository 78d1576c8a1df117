'use strict';

// The programs and types that check the charts. They are built or fetched once, by version, below the user's cache and outside of the tree.
const { spawnSync } = require('node:child_process');
const { cpSync, existsSync, mkdirSync, renameSync, rmSync } = require('node:fs');
const { homedir, tmpdir } = require('node:os');
const { delimiter, join } = require('node:path');

const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'decision-service/charts-tools');
const BUILD_MS = 1_500_000;

const PROGRAMS = {
  helm: { module: 'helm.sh/helm/v3/cmd/helm', version: 'v3.20.2' },
  kubeconform: { module: 'github.com/yannh/kubeconform/cmd/kubeconform', version: 'v0.7.0' },
  'kube-score': { module: 'github.com/zegl/kube-score/cmd/kube-score', version: 'v1.20.0' },
  promtool: { module: 'github.com/prometheus/prometheus/cmd/promtool', version: 'v0.310.0' },
};
/** Version of Kubernetes whose types count, and the package that brings them. */
const KUBERNETES = '1.33.0';
const KUBERNETES_SCHEMAS = { name: 'kubernetes-validate', version: '1.37.0' };
/** Types of what others add to Kubernetes, as validators. */
const TYPES = {
  '@kubernetes-models/keda': '2.0.0',
  '@kubernetes-models/prometheus-operator': '6.0.0',
  '@kubernetes-models/gateway-api': '2.0.0',
  '@kubernetes-models/traefik': '2.0.0',
};
/** Types of the gateway whose kinds no package of validators has: its module of Go holds their definitions. */
const DEFINITIONS = {
  module: 'github.com/envoyproxy/gateway',
  version: 'v1.4.1',
  folder: 'charts/gateway-helm/crds/generated',
};

const run = (command, args, options = {}) => {
  const result = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
    timeout: BUILD_MS,
    ...options,
  });
  return { ok: result.status === 0, output: `${result.stdout ?? ''}${result.stderr ?? ''}${result.error ?? ''}` };
};

const must = (command, args, options) => {
  const { ok, output } = run(command, args, options);
  if (!ok) throw new Error(`${command} ${args.join(' ')} failed:\n${output.slice(-2_000)}`);
  return output;
};

const inPath = (name) =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));

const findGo = () => inPath('go') ?? (existsSync('/usr/local/go/bin/go') ? '/usr/local/go/bin/go' : undefined);
const built = (name) => join(CACHE, 'bin', `${name}-${PROGRAMS[name].version}`);
const findHelm = () => (existsSync(built('helm')) ? built('helm') : inPath('helm'));

/** Path of a program: the one that was built, else one that is built now, else undefined where there is no Go. */
const buildProgram = (name) => {
  if (existsSync(built(name))) return built(name);
  const go = findGo();
  if (go === undefined) return undefined;
  const { module, version } = PROGRAMS[name];
  const folder = join(CACHE, `building-${process.pid}`);
  mkdirSync(join(CACHE, 'bin'), { recursive: true });
  mkdirSync(folder, { recursive: true });
  // In a module of its own: `go install` refuses programs whose module replaces others.
  const options = { cwd: folder, env: { ...process.env, GOFLAGS: '-p=1' } };
  must(go, ['mod', 'init', 'tools'], options);
  must(go, ['get', `${module}@${version}`], options);
  must(go, ['build', '-ldflags', '-s -w', '-o', name, module], options);
  renameSync(join(folder, name), built(name));
  rmSync(folder, { recursive: true, force: true });
  return built(name);
};

/** Folder of the JSON schemas of Kubernetes as their package brings them: each refers to `_definitions.json`. */
const fetchSchemas = () => {
  const { name, version } = KUBERNETES_SCHEMAS;
  const target = join(CACHE, `${name}-${version}`);
  if (!existsSync(target)) {
    const folder = `${target}-${process.pid}`;
    must('python3', ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', folder, `${name}==${version}`]);
    renameSync(folder, target);
  }
  return join(target, 'kubernetes_validate/kubernetes-json-schema', `v${KUBERNETES}-local-strict`);
};

/** Folder with `node_modules` of the types of others. */
const fetchTypes = () => {
  const list = Object.entries(TYPES).map(([name, version]) => `${name}@${version}`);
  const target = join(CACHE, `types-${Object.values(TYPES).join('-')}`);
  if (!existsSync(target)) {
    const folder = `${target}-${process.pid}`;
    mkdirSync(folder, { recursive: true });
    must('npm', ['install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder, ...list]);
    renameSync(folder, target);
  }
  return target;
};

/** Folder of definitions of further kinds (CustomResourceDefinition), as YAML. */
const fetchDefinitions = () => {
  const { module, version, folder } = DEFINITIONS;
  const target = join(CACHE, `definitions-${version}`);
  if (!existsSync(target)) {
    const downloaded = must(findGo(), ['mod', 'download', '-json', `${module}@${version}`], { cwd: tmpdir() });
    const copy = `${target}-${process.pid}`;
    cpSync(join(JSON.parse(downloaded).Dir, folder), copy, { recursive: true });
    renameSync(copy, target);
  }
  return target;
};

module.exports = { KUBERNETES, buildProgram, fetchDefinitions, fetchSchemas, fetchTypes, findGo, findHelm, run, must };
