import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ingressRoutes } from '@decision/contracts';
import { chartsFolder, SERVERS, SERVICES, type Value } from '../src/chart-values';
import {
  at,
  containersOf,
  find,
  get,
  listAt,
  podsOf,
  render,
  renderNotes,
  textAt,
  textsAt,
  valueFiles,
  variablesOf,
} from './render';
import { run } from './tools.js';

const valueOf = (file: string, service: string, name: string): string => {
  const [container = null] = listAt(get(render(file), 'Deployment', service), 'spec.template.spec.containers');
  return textAt(listAt(container, 'env').find((entry) => at(entry, 'name') === name) ?? null, 'value');
};

describe('images', () => {
  it('are fetched by every pod with the secrets that global.imagePullSecrets names', () => {
    const pods = podsOf(render('registry.yaml'));
    expect(pods.map(({ owner }) => owner.kind)).toEqual(
      expect.arrayContaining(['Deployment', 'StatefulSet', 'Job', 'Pod']),
    );
    for (const { spec } of pods) expect(at(spec, 'imagePullSecrets')).toEqual([{ name: 'registry-login' }]);
    for (const { spec } of podsOf(render('minimal.yaml'))) expect(at(spec, 'imagePullSecrets')).toBeNull();
  });

  it('may be of any architecture: no value file but the one that says so binds pods to one', () => {
    const bound = valueFiles('values').filter(
      (file) =>
      podsOf(render(file)).some(({ spec }) => JSON.stringify([at(spec, 'nodeSelector'), at(spec, 'affinity')]).includes('kubernetes.io/arch')), // prettier-ignore
    );
    expect(bound).toEqual(['everything-on.yaml']);
    const images = podsOf(render('minimal.yaml')).flatMap(({ spec }) =>
      containersOf(spec).map((one) => textAt(one, 'image')),
    );
    expect(images.filter((image) => /amd64|arm64|x86|aarch/.test(image))).toEqual([]);
    const dockerfile = readFileSync(join(chartsFolder, '../docker/Dockerfile'), 'utf8');
    expect(dockerfile).toContain('--arch "$TARGETARCH"');
  });
});

describe('accounts', () => {
  const role = 'arn:aws:iam::111122223333:role/decision';
  const annotationsOf = (file: string, name: string): Value =>
    at(get(render(file), 'ServiceAccount', name), 'metadata.annotations');

  it('of pods that reach the brokers have the role of AWS, and no others do', () => {
    const names = [...SERVICES, 'migrations', 'topics'];
    const withRole = names.filter((name) => JSON.stringify(annotationsOf('kafka-aws-iam.yaml', name)).includes(role));
    expect(withRole.sort()).toEqual(['contexts-api', 'hps-gateway', 'log-collector', 'solve-worker', 'topics']);
    expect(annotationsOf('kafka-aws-iam.yaml', 'topics')).toEqual({ 'eks.amazonaws.com/role-arn': role });
  });

  it.each(SERVICES)('of %s have the name and annotations of its values', (name) => {
    const account = render('everything-on.yaml').find(
      ({ kind, metadata }) => kind === 'ServiceAccount' && metadata.name === `${name}-own`,
    );
    expect(at(account ?? null, 'metadata.annotations')).toEqual({ 'example.com/role': 'one' });
  });
});

it.each([...SERVICES, ...SERVERS])('%s has the class of priority of its values, and none by default', (name) => {
  const kind = (SERVERS as readonly string[]).includes(name) ? 'StatefulSet' : 'Deployment';
  const classOf = (values: Readonly<Record<string, Value>>): Value =>
    at(get(render('minimal.yaml', values), kind, name), 'spec.template.spec.priorityClassName');
  expect(classOf({})).toBeNull();
  expect(classOf({ [`${name}.priorityClassName`]: 'critical' })).toBe('critical');
});

describe('addresses of both families', () => {
  const servicesOf = (file: string) => render(file).filter(({ kind }) => kind === 'Service');

  it('every Service has the policy of global.ipFamilyPolicy, or that of the cluster', () => {
    for (const file of ['registry.yaml', 'ipv6.yaml', 'bridge-aws.yaml']) {
      const policy = file === 'ipv6.yaml' ? 'RequireDualStack' : file === 'registry.yaml' ? 'PreferDualStack' : null;
      expect(new Set(servicesOf(file).map((service) => at(service, 'spec.ipFamilyPolicy')))).toEqual(new Set([policy]));
    }
    expect(servicesOf('registry.yaml').length).toBeGreaterThan(10);
    const bridge = get(render('bridge-gcp.yaml', { 'global.ipFamilyPolicy': 'SingleStack' }), 'Service', 'mq-bridge');
    expect(at(bridge, 'spec.ipFamilyPolicy')).toBe('SingleStack');
  });

  it('services listen on all of them: neither the charts nor the images set HOST', () => {
    for (const file of valueFiles('values')) {
      const objects = render(file);
      for (const name of SERVICES.filter((service) => find(objects, 'Deployment', service) !== undefined)) {
        const [container = null] = listAt(get(objects, 'Deployment', name), 'spec.template.spec.containers');
        expect(Object.keys(variablesOf(objects, name))).not.toContain('HOST');
        expect(listAt(container, 'env').map((entry) => at(entry, 'name'))).not.toContain('HOST');
      }
    }
    expect(readFileSync(join(chartsFolder, '../docker/Dockerfile'), 'utf8')).not.toMatch(/\bHOST=/);
  });

  it('broker and cache inside listen on all of them', () => {
    const text = (name: string, file: string): string =>
      String((at(get(render('minimal.yaml'), 'ConfigMap', name), 'data') as Readonly<Record<string, string>>)[file]); // Kubernetes takes texts alone
    expect(text('mq', 'server.properties')).toContain('\nlisteners=BROKER://:9092,CONTROLLER://:9093\n');
    expect(text('cache', 'start.sh')).toContain('echo "bind * -::*"');
  });

  it('addresses of IPv6 stand in brackets in URLs, and their ports are those of the network policies', () => {
    const url = 'postgresql://decision_service:$(DATABASE_PASSWORD)@[fd00:1::5]:5432/decision?sslmode=verify-full';
    expect(valueOf('ipv6.yaml', 'hps-gateway', 'DATABASE_URL')).toBe(url);
    expect(valueOf('ipv6.yaml', 'hps-gateway', 'CACHE_URL')).toBe('rediss://:$(CACHE_PASSWORD)@[fd00:1::6]:6379');
    for (const name of ['DATABASE_URL', 'CACHE_URL'])
      expect(URL.canParse(valueOf('ipv6.yaml', 'hps-gateway', name).replace(/\$\(\w+\)/, 'p'))).toBe(true);
    expect(variablesOf(render('ipv6.yaml'), 'hps-gateway')['MQ_BROKERS']).toBe('[fd00:1::7]:9092,[fd00:1::8]:9093');
    const ports = listAt(get(render('ipv6.yaml'), 'NetworkPolicy', 'hps-gateway'), 'spec.egress').map((rule) =>
      listAt(rule, 'ports').map((port) => at(port, 'port')),
    );
    expect(ports).toEqual([[53, 53], [5432], [6379], [9092, 9093], [4318]]);
  });

  it('an address of IPv6 that stands in brackets already has no more of them', () => {
    const job = render('ipv6.yaml', { 'database.external.host': '[fd00:1::5]' }).find(({ kind }) => kind === 'Job');
    expect(JSON.stringify(job)).toContain('@[fd00:1::5]:5432/');
  });
});

it.each(SERVICES)('the labels that metrics of %s have themselves outlive a scrape', (name) => {
  const monitor = get(render('everything-on.yaml'), 'ServiceMonitor', name);
  expect(listAt(monitor, 'spec.endpoints')).toEqual([
    { port: 'metrics', path: '/metrics', interval: '30s', scrapeTimeout: '10s', honorLabels: true },
  ]);
});

describe('helm test', () => {
  const podOf = (file: string): Value => render(file).find(({ kind }) => kind === 'Pod') ?? null;
  const addressesOf = (file: string): readonly string[] => {
    const [variable = null] = listAt(podOf(file), 'spec.containers.0.env');
    return textAt(variable, 'value').trim().split(' ');
  };

  it.each(['minimal.yaml', 'no-broker.yaml', 'no-logging.yaml'])(
    'asks every installed service whether it is ready: %s',
    (file) => {
      const objects = render(file);
      const installed = SERVICES.filter((name) => find(objects, 'Deployment', name) !== undefined);
      const expected = installed.map((name) => {
        const [http = null] = listAt(get(objects, 'Service', name), 'spec.ports');
        return `http://rel-${name}:${Number(at(http, 'port'))}/ready`;
      });
      expect([...addressesOf(file)].sort()).toEqual(expected.sort());
    },
  );

  it('is a pod that ends by itself, kept until the next test for its log, and is absent if it is switched off', () => {
    expect(at(podOf('minimal.yaml'), 'metadata.annotations')).toEqual({
      ...{ 'helm.sh/hook': 'test', 'helm.sh/hook-delete-policy': 'before-hook-creation' },
    });
    expect(at(podOf('minimal.yaml'), 'spec.restartPolicy')).toBe('Never');
    expect(podOf('gateway-only.yaml')).toBeNull();
  });

  it('asks with a program that fails if one service is not ready', () => {
    const [script = ''] = textsAt(podOf('minimal.yaml'), 'spec.containers.0.args');
    expect(textsAt(podOf('minimal.yaml'), 'spec.containers.0.command')).toEqual(['node', '-e']);
    const asked = (...addresses: readonly string[]) =>
      run(process.execPath, ['-e', script], { env: { ADDRESSES: addresses.join(' ') } });
    expect(asked('data:,ready')).toEqual({ ok: true, output: 'data:,ready 200 ready\n' });
    const { ok, output } = asked('data:,ready', 'file:///nowhere');
    expect({ ok, output }).toEqual({ ok: false, output: expect.stringContaining('file:///nowhere') as unknown });
  });
});

describe('the notes of an installation', () => {
  it('say the commands that come next', () => {
    const notes = renderNotes('first-try.yaml');
    expect(notes).toContain(
      'kubectl --namespace decisions get pods,jobs --watch --selector app.kubernetes.io/instance=rel',
    );
    expect(notes).toContain('helm test rel --namespace decisions --logs');
    expect(notes).toContain('kubectl --namespace decisions port-forward service/rel-hps-gateway 3002:http');
    expect(notes).toContain('docs/operating/install.md, "The first key"');
    expect(readFileSync(join(chartsFolder, '../docs/operating/install.md'), 'utf8')).toContain('\n## The first key\n');
    expect(notes).not.toContain('WARNING');
  });

  it('say the address if there is an ingress', () => {
    expect(renderNotes('ingress-traefik.yaml')).toContain('reach it at https://decisions.example.com.');
  });

  it.each([
    ['no-broker.yaml', 'there is no broker'],
    ['no-cache.yaml', 'there is no cache'],
    ['passthrough-incomplete.yaml', 'global.email or global.backend.url is missing'],
  ])('%s: warn that %s', (file, warning) => {
    expect(renderNotes(file).split('\n')).toContainEqual(expect.stringMatching(`^WARNING: .*${warning}`));
  });
});

describe('the question about people', () => {
  const portOf = (file: string): string => {
    const [http = null] = listAt(get(render(file), 'Service', 'auth-proxy-adapter'), 'spec.ports');
    return `${Number(at(http, 'port'))}`;
  };

  it('of Traefik goes to the Service of auth-proxy-adapter, and hands its session on alone', () => {
    const file = 'ingress-traefik.yaml';
    expect(at(get(render(file), 'Middleware', 'ingress-people'), 'spec.forwardAuth')).toEqual({
      address: `http://rel-auth-proxy-adapter.decisions.svc:${portOf(file)}/auth/check?redirects=true`,
      ...{ trustForwardHeader: false, preserveLocationHeader: true, authResponseHeaders: ['X-Decision-Session'] },
      addAuthCookiesToResponse: ['decision_session', '__Host-decision_session'],
    });
  });

  it('of Envoy Gateway goes there for the routes that ask, with the header of the token', () => {
    const file = 'passthrough-claims.yaml';
    const spec = at(get(render(file), 'SecurityPolicy', 'ingress-people'), 'spec');
    expect(listAt(spec, 'targetRefs')).toEqual([
      { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'rel-ingress-people' },
    ]);
    expect(get(render(file), 'HTTPRoute', 'ingress-people')).toBeDefined();
    expect(at(spec, 'extAuth.http')).toEqual({
      ...{ path: '/auth/check', headersToBackend: ['x-decision-session'] },
      backendRefs: [{ name: 'rel-auth-proxy-adapter', port: Number(portOf(file)) }],
    });
    expect(textsAt(spec, 'extAuth.headersToExtAuth')).toContain('x-company-token');
  });

  it('is asked by the path that the adapter answers', () => {
    expect(ingressRoutes).toContainEqual({ prefix: '/auth', service: 'auth-proxy-adapter' });
  });
});
