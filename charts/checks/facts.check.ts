import { SERVICES, type Value } from '../src/chart-values';
import { imagesOfPage } from '../src/images-docs';
import {
  at,
  containersOf,
  find,
  get,
  listAt,
  podsOf,
  render,
  renderAnew,
  type Rendered,
  textAt,
  textsAt,
  valueFiles,
  variablesOf,
} from './render';

const everywhere = new Map<string, readonly Rendered[]>();
beforeAll(() => valueFiles('values').forEach((file) => everywhere.set(file, render(file))));

const objectsOf = (file: string): readonly Rendered[] => everywhere.get(file) ?? [];

/** Names of what does not hold, over all files of values. */
const exceptions = (holds: (pod: Value, owner: Rendered) => boolean): readonly string[] =>
  [...everywhere].flatMap(([file, objects]) =>
    podsOf(objects)
      .filter(({ spec, owner }) => !holds(spec, owner))
      .map(({ owner }) => `${file}: ${owner.kind} ${owner.metadata.name}`),
  );

const every = (pod: Value, holds: (container: Value) => boolean): boolean => containersOf(pod).every(holds);

describe('every pod', () => {
  it('runs as a user that is not root, with the profile of the runtime', () => {
    expect(
      exceptions(
        (pod) =>
          at(pod, 'securityContext.runAsNonRoot') === true &&
          Number(at(pod, 'securityContext.runAsUser')) >= 999 &&
          at(pod, 'securityContext.seccompProfile.type') === 'RuntimeDefault',
      ),
    ).toEqual([]);
  });

  it('has a root that is read-only, and no capability and no way to more rights', () => {
    expect(
      exceptions((pod) =>
        every(
          pod,
          (container) =>
            at(container, 'securityContext.readOnlyRootFilesystem') === true &&
            at(container, 'securityContext.allowPrivilegeEscalation') === false &&
            textsAt(container, 'securityContext.capabilities.drop').join() === 'ALL',
        ),
      ),
    ).toEqual([]);
  });

  it('gets no token of Kubernetes and no addresses of services as variables', () => {
    expect(
      exceptions((pod) => at(pod, 'automountServiceAccountToken') === false && at(pod, 'enableServiceLinks') === false),
    ).toEqual([]);
    const accounts = [...everywhere.values()].flat().filter(({ kind }) => kind === 'ServiceAccount');
    expect(accounts.length).toBeGreaterThan(100);
    expect(accounts.every((account) => account['automountServiceAccountToken'] === false)).toBe(true);
  });

  it('asks for processor time, memory and disk, and has limits of memory and disk, but none of processor time', () => {
    expect(
      exceptions((pod) =>
        every(
          pod,
          (container) =>
            ['cpu', 'memory', 'ephemeral-storage'].every(
              (name) => at(container, `resources.requests.${name}`) !== null,
            ) &&
            ['memory', 'ephemeral-storage'].every((name) => at(container, `resources.limits.${name}`) !== null) &&
            at(container, 'resources.limits.cpu') === null,
        ),
      ),
    ).toEqual([]);
  });

  it('is covered by a network policy that limits both directions', () => {
    expect(
      exceptions((_, owner) => {
        const labels = at(owner, 'metadata.labels') as Readonly<Record<string, string>> | null; // Kubernetes takes texts alone
        const name = labels?.['app.kubernetes.io/name'] ?? '';
        const policy = find(everywhereWith(owner), 'NetworkPolicy', name);
        return policy !== undefined && textsAt(policy, 'spec.policyTypes').join() === 'Ingress,Egress';
      }),
    ).toEqual([]);
  });

  it('shows no secret in its arguments, and takes each from a secret by name', () => {
    const objects = objectsOf('plain-secrets.yaml');
    const secrets = Object.values(at(get(objects, 'Secret', 'decision-service-values'), 'stringData') ?? {}).map(
      String,
    );
    expect(secrets.length).toBe(8);
    const others = objects.filter(({ kind }) => kind !== 'Secret').map((object) => JSON.stringify(object));
    for (const secret of secrets.filter((text) => text.length > 8))
      expect(others.filter((text) => text.includes(secret) || text.includes(decodeURIComponent(secret)))).toEqual([]);
  });
});

const everywhereWith = (owner: Rendered): readonly Rendered[] =>
  [...everywhere.values()].find((objects) => objects.includes(owner)) ?? [];

it('the images of all pods are those that the documentation lists', () => {
  const pods = [...everywhere.values()].flatMap(podsOf);
  const images = pods.flatMap(({ spec }) => containersOf(spec)).map((container) => textAt(container, 'image'));
  const listed = imagesOfPage().map(({ name }) => name);
  // A registry may stand before the name; a tag or a digest follows it.
  const nameOf = (image: string) => listed.find((name) => new RegExp(`(?:^|/)${name}[:@]`).test(image)) ?? image;
  expect([...new Set(images.map(nameOf))].sort()).toEqual(listed);
});

it('nothing is drawn while rendering: two renderings are the same', () => {
  for (const file of ['first-try.yaml', 'everything-on.yaml', 'plain-secrets.yaml'])
    expect(renderAnew(file)).toEqual(objectsOf(file));
});

it('there are no hooks but the pod of helm test', () => {
  const hooks = [...everywhere.values()]
    .flat()
    .filter((object) => JSON.stringify(object).includes('helm.sh/hook'))
    .map(({ kind }) => kind);
  expect(new Set(hooks)).toEqual(new Set(['Pod']));
});

describe.each(SERVICES)('%s', (name) => {
  const deployment = () => get(objectsOf('minimal.yaml'), 'Deployment', name);

  it('is probed at /health and /ready, with a start of its own', () => {
    const [container = null] = listAt(deployment(), 'spec.template.spec.containers');
    const paths = ['startupProbe', 'livenessProbe', 'readinessProbe'].map((probe) =>
      at(container, `${probe}.httpGet.path`),
    );
    expect(paths).toEqual(['/health', '/health', '/ready']);
    // A pod that stops answers 503 for SHUTDOWN_GRACE_MS (5 s); the probe must see it meanwhile.
    expect(at(container, 'readinessProbe')).toMatchObject({ periodSeconds: 2, failureThreshold: 1 });
  });

  it('loses no pod in a rollout before a new one is ready, and one at a time to evictions', () => {
    expect(at(deployment(), 'spec.strategy.rollingUpdate')).toEqual({ maxUnavailable: 0, maxSurge: 1 });
    const budget = get(objectsOf('minimal.yaml'), 'PodDisruptionBudget', name);
    expect(budget['spec']).toMatchObject({ maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' });
  });

  it('is spread over zones and nodes', () => {
    const keys = listAt(deployment(), 'spec.template.spec.topologySpreadConstraints').map((one) =>
      at(one, 'topologyKey'),
    );
    expect(keys).toEqual(['topology.kubernetes.io/zone', 'kubernetes.io/hostname']);
  });

  it('has longer to stop than its requests may run', () => {
    const variables = variablesOf(objectsOf('minimal.yaml'), name);
    const longest = Number(variables['SHUTDOWN_DRAIN_MS'] ?? Number(variables['RPC_TIMEOUT_MS'] ?? 60_000) + 2_000);
    const seconds = Number(at(deployment(), 'spec.template.spec.terminationGracePeriodSeconds'));
    expect(seconds).toBeGreaterThanOrEqual((5_000 + longest) / 1_000 + 10);
    expect(seconds).toBeLessThan((5_000 + longest) / 1_000 + 12);
  });

  it('has a memory limit above its heap', () => {
    const [container = null] = listAt(deployment(), 'spec.template.spec.containers');
    const options = listAt(container, 'env').find((entry) => at(entry, 'name') === 'NODE_OPTIONS') ?? null;
    const heap = Number(/--max-old-space-size=(\d+)/.exec(textAt(options, 'value'))?.[1]);
    const limit = textAt(container, 'resources.limits.memory');
    expect(heap).toBeGreaterThan(100);
    expect(Number.parseInt(limit, 10) * (limit.endsWith('Gi') ? 1024 : 1)).toBeGreaterThan(heap + 200);
  });

  it('starts without anything that would have to be there before, for it waits for its schema itself', () => {
    expect(listAt(deployment(), 'spec.template.spec.initContainers')).toEqual([]);
    expect(textAt(deployment(), 'metadata.annotations')).not.toContain('helm.sh/hook');
  });

  it('has its metrics on a port of their own, which only who reads metrics reaches', () => {
    const variables = variablesOf(objectsOf('minimal.yaml'), name);
    expect(variables).toMatchObject({ METRICS_PORT: '9464', API_METRICS: String(name === 'objects-api') });
    const [container = null] = listAt(deployment(), 'spec.template.spec.containers');
    expect(listAt(container, 'ports')).toContainEqual({ name: 'metrics', containerPort: 9464, protocol: 'TCP' });
    const rulesOf = (file: string) =>
      listAt(get(objectsOf(file), 'NetworkPolicy', name), 'spec.ingress').filter((rule) =>
        listAt(rule, 'ports').some((port) => at(port, 'port') === 9464),
      );
    // Beside the autoscaler, which reads what gateways refuse.
    expect(rulesOf('minimal.yaml')).toHaveLength(name === 'hps-gateway' ? 1 : 0);
    expect(rulesOf('no-autoscaling.yaml')).toEqual([]);
    const rule = rulesOf('everything-on.yaml').at(-1) ?? null;
    expect(listAt(rule, 'from')).toHaveLength(1);
    expect(listAt(rule, 'ports')).toHaveLength(1);
  });

  it('is rolled when its settings, secrets in values or the revision of secrets change, and not otherwise', () => {
    const annotations = (values: Readonly<Record<string, Value>>): Value =>
      at(get(render('plain-secrets.yaml', values), 'Deployment', name), 'spec.template.metadata.annotations');
    const before = annotations({});
    expect(annotations({})).toEqual(before);
    expect(annotations({ 'app.logLevel': 'warn' })).not.toEqual(before);
    expect(annotations({ 'database.service.password': 'another' })).not.toEqual(before);
    expect(annotations({ 'global.secretsRevision': 2 })).not.toEqual(before);
    expect(annotations({ 'topics.logs.retentionMs': 3_600_000 })).toEqual(before);
  });

  it('takes everything that operators add', () => {
    const objects = objectsOf('everything-on.yaml');
    const added = get(objects, 'Deployment', name);
    const pod = at(added, 'spec.template.spec');
    const [container = null] = listAt(pod, 'containers');
    expect(listAt(container, 'env')).toContainEqual({ name: 'TZ', value: 'UTC' });
    expect(listAt(container, 'volumeMounts')).toContainEqual({ name: 'more', mountPath: '/etc/more', readOnly: true });
    expect(pod).toMatchObject({
      ...{ priorityClassName: 'high', nodeSelector: { 'kubernetes.io/arch': 'arm64' } },
      ...{ tolerations: [{ key: 'dedicated', operator: 'Exists' }], serviceAccountName: `${name}-own` },
    });
    expect(at(added, 'spec.template.metadata.labels.team')).toBe('rules');
    expect(variablesOf(objects, name)).toMatchObject({ LOG_REQUESTS: 'true', DATABASE_POOL_MAX: '20' });
    expect(find(objects, 'ServiceMonitor', name)).toBeDefined();
    // A number of pods would undo what the autoscaler decides, at each upgrade.
    expect(at(added, 'spec.replicas')).toBeNull();
  });
});

it('a job is another one if it does another thing, and the same if it does the same', () => {
  const jobs = (values: Readonly<Record<string, Value>>): readonly string[] =>
    render('minimal.yaml', values)
      .filter(({ kind }) => kind === 'Job')
      .map(({ metadata }) => metadata.name);
  const [migrations, topics] = jobs({});
  expect(jobs({ 'app.logLevel': 'warn' })).toEqual([migrations, topics]);
  expect(jobs({ 'topics.logs.partitions': 12 })).toEqual([migrations, expect.not.stringMatching(topics ?? '')]);
  expect(jobs({ 'global.imageTag': '9.9.9' })).toEqual([
    expect.stringMatching(/^rel-migrations-9-9-9-/),
    expect.stringMatching(/^rel-topics-9-9-9-/),
  ]);
});
