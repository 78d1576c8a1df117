import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SERVERS, SERVICES, UMBRELLA } from '../src/chart-values';
import { bundleSchemas, writeDefinedSchema } from './bundle-schemas';
import { lint, objectsOf, type Rendered, template, valueFiles, valuePath } from './render';
import { buildProgram, fetchDefinitions, fetchSchemas, fetchTypes, findGo, KUBERNETES, run } from './tools.js';

const files = valueFiles('values');
const folder = mkdtempSync(join(tmpdir(), 'charts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const rendered = new Map<string, string>();
beforeAll(() => {
  for (const file of files) {
    const { ok, output } = template(UMBRELLA, ['--values', valuePath('values', file)]);
    if (ok) writeFileSync(join(folder, file), output);
    rendered.set(file, output);
  }
});

const rule = (chart: string): readonly string[] =>
  chart === 'database'
    ? ['--set', 'owner.existingSecret=s']
    : chart === UMBRELLA
      ? ['--values', valuePath('values', 'minimal.yaml')]
      : [];

it('has at least 25 files of values, and 40 that are wrong', () => {
  expect(files.length).toBeGreaterThanOrEqual(25);
  expect(valueFiles('wrong').length).toBeGreaterThanOrEqual(40);
});

it.each(files)('%s renders objects with names of their own', (file) => {
  const objects = objectsOf(rendered.get(file) ?? '');
  const names = objects.map(({ apiVersion, kind, metadata: { name } }) => `${apiVersion} ${kind} ${name}`);
  expect(names.length).toBeGreaterThan(8);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

it.each(valueFiles('wrong'))('%s is refused with its sentence', (file) => {
  const [first = ''] = readFileSync(valuePath('wrong', file), 'utf8').split('\n');
  const { ok, output } = template(UMBRELLA, ['--values', valuePath('wrong', file)]);
  expect(ok).toBe(false);
  expect(output).toContain(first.replace(/^# /, ''));
});

it.each([UMBRELLA, ...SERVICES, ...SERVERS])('%s passes helm lint', (chart) => {
  const { ok, output } = lint(chart, rule(chart));
  expect({ ok, output }).toEqual({ ok: true, output: expect.stringContaining('0 chart(s) failed') as unknown });
});

it.each([...SERVICES, ...SERVERS])('%s can be installed alone', (chart) => {
  const { ok, output } = template(chart, rule(chart));
  expect({ ok, output: ok ? '' : output }).toEqual({ ok: true, output: '' });
  expect(objectsOf(output).map(({ kind }) => kind)).toEqual(expect.arrayContaining(['Service', 'ServiceAccount']));
});

const withGo = findGo() === undefined ? describe.skip : describe;

/** Kinds that Kubernetes does not know, each with the type that checks it. */
const OTHER_TYPES: Readonly<Record<string, string>> = {
  ScaledObject: '@kubernetes-models/keda/keda.sh/v1alpha1/ScaledObject',
  TriggerAuthentication: '@kubernetes-models/keda/keda.sh/v1alpha1/TriggerAuthentication',
  PrometheusRule: '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule',
  ServiceMonitor: '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor',
  HTTPRoute: '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1/HTTPRoute',
  Middleware: '@kubernetes-models/traefik/traefik.io/v1alpha1/Middleware',
  IngressRoute: '@kubernetes-models/traefik/traefik.io/v1alpha1/IngressRoute',
};

/** Kinds that Kubernetes does not know and no package has a type of, each with the file of its definition. */
const DEFINED = { SecurityPolicy: 'gateway.envoyproxy.io_securitypolicies.yaml' };

withGo('with the tools of Go', () => {
  it('every object of Kubernetes is valid by the strict types of its version', () => {
    const objects = files.flatMap((file) => objectsOf(rendered.get(file) ?? ''));
    const schemas = join(folder, 'schemas');
    bundleSchemas(fetchSchemas(), schemas, [...new Set(objects.map(schemaName))]);
    for (const [kind, file] of Object.entries(DEFINED)) {
      const object = objects.find((one) => one.kind === kind);
      if (object === undefined) throw new TypeError(`There is no ${kind}.`);
      writeDefinedSchema(join(fetchDefinitions(), file), schemas, schemaName(object));
    }
    const { ok, output } = run(buildProgram('kubeconform') ?? '', [
      ...['-strict', '-summary', '-kubernetes-version', KUBERNETES],
      ...['-schema-location', `${schemas}/{{ .ResourceKind }}{{ .KindSuffix }}.json`],
      ...['-skip', Object.keys(OTHER_TYPES).join(',')],
      ...files.map((file) => join(folder, file)),
    ]);
    expect({ ok, output: ok ? '' : output }).toEqual({ ok: true, output: '' });
    expect(Number(/Valid: (\d+)/.exec(output)?.[1])).toBeGreaterThan(1_000);
    expect(output).toMatch(/Invalid: 0, Errors: 0/);
  });

  it('an object with a field that its definition does not have is refused', () => {
    const schemas = join(folder, 'wrong-schemas');
    const wrong = join(folder, 'wrong.yaml');
    const object = {
      ...{ apiVersion: 'gateway.envoyproxy.io/v1alpha1', kind: 'SecurityPolicy', metadata: { name: 'wrong' } },
      spec: { extAuths: {} },
    };
    writeDefinedSchema(join(fetchDefinitions(), DEFINED.SecurityPolicy), schemas, schemaName(object));
    writeFileSync(wrong, JSON.stringify(object));
    const { ok, output } = run(buildProgram('kubeconform') ?? '', [
      ...['-strict', '-schema-location', `${schemas}/{{ .ResourceKind }}{{ .KindSuffix }}.json`, wrong],
    ]);
    expect({ ok, output }).toEqual({ ok: false, output: expect.stringContaining("'extAuths' not allowed") as unknown });
  });

  it('every object that others add to Kubernetes is valid by their types', () => {
    const objects = files
      .flatMap((file) => objectsOf(rendered.get(file) ?? ''))
      .filter(({ kind }) => kind in OTHER_TYPES);
    const list = join(folder, 'others.json');
    writeFileSync(list, JSON.stringify(objects));
    const script = join(__dirname, 'check-types.mjs');
    const { output } = run(process.execPath, [script, fetchTypes(), JSON.stringify(OTHER_TYPES), list]);
    expect(output).toBe(`${objects.length} valid\n`);
    expect(new Set(objects.map(({ kind }) => kind))).toEqual(new Set(Object.keys(OTHER_TYPES)));
  });

  it.each(files)('%s has nothing that kube-score calls critical', (file) => {
    const { output } = run(buildProgram('kube-score') ?? '', [
      ...['score', '--output-format', 'ci'],
      // There is none on purpose: it slows bursts down and saves nothing that the request does not.
      '--ignore-container-cpu-limit',
      ...ignored(
        // Tags of releases do not move, and digests can be given.
        'container-image-pull-policy',
        // Pods are spread by topology.
        'deployment-has-host-podantiaffinity',
        'statefulset-has-host-podantiaffinity',
        // The images of Kafka, Redis and PostgreSQL have users of their own; tests look at those of the services.
        'container-security-context-user-group-id',
        // A server that listens is ready and alive; services have different ones.
        'pod-probes-identical',
        // One broker, cache or database of a first try cannot be kept up while its node is drained.
        'statefulset-has-poddisruptionbudget',
      ),
      join(folder, file),
    ]);
    expect(output.split('\n').filter((line) => line.startsWith('[CRITICAL]'))).toEqual([]);
    expect(output).toContain('[OK]');
  });
});

const ignored = (...tests: readonly string[]): readonly string[] => tests.flatMap((test) => ['--ignore-test', test]);

const schemaName = ({ apiVersion, kind }: Rendered): string => {
  const [group = '', version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  return [kind.toLowerCase(), group.split('.')[0], version].filter((part) => part !== '').join('-');
};
