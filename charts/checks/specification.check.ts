import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ingressRoutes } from '@decision/contracts';
import { chartsFolder, SERVICES, UMBRELLA, type Value } from '../src/chart-values';
import {
  at,
  find,
  get,
  listAt,
  render,
  type Rendered,
  template,
  textAt,
  valueFiles,
  valuePath,
  variablesOf,
} from './render';

const adapter = (objects: readonly Rendered[]) => variablesOf(objects, 'auth-proxy-adapter');
const gateway = (objects: readonly Rendered[]) => variablesOf(objects, 'hps-gateway');

/** Secret and key behind each variable of a service. */
const secretsOf = (objects: readonly Rendered[], service: string): Readonly<Record<string, string>> => {
  const [container = null] = listAt(get(objects, 'Deployment', service), 'spec.template.spec.containers');
  return Object.fromEntries(
    listAt(container, 'env').flatMap((entry) => {
      const reference = at(entry, 'valueFrom.secretKeyRef');
      return reference === null
        ? []
        : [[textAt(entry, 'name'), `${textAt(reference, 'name')}/${textAt(reference, 'key')}`] as const];
    }),
  );
};

const valueOf = (objects: readonly Rendered[], service: string, name: string): Value => {
  const [container = null] = listAt(get(objects, 'Deployment', service), 'spec.template.spec.containers');
  return at(listAt(container, 'env').find((entry) => at(entry, 'name') === name) ?? null, 'value');
};

describe('token passthrough', () => {
  it.each<[Value, string]>([
    [true, 'true'],
    ['true', 'true'],
    [false, 'false'],
    ['yes', 'false'],
    ['True', 'false'],
    [1, 'false'],
    ['', 'false'],
  ])('global.externalAuth.enabled: %j sets both flags to %s', (enabled, flag) => {
    expect(adapter(render('minimal.yaml', { 'global.externalAuth.enabled': enabled }))).toMatchObject({
      EXTERNAL_AUTH_TOKEN_PASSTHROUGH: flag,
      PUBLIC_EXTERNAL_AUTH_TOKEN_PASSTHROUGH: flag,
    });
  });

  it('has the header and claims of the specification by default, and no public paths', () => {
    const variables = adapter(render('minimal.yaml'));
    expect(variables).toMatchObject({
      EXTERNAL_AUTH_HEADER: 'Authorization',
      EXTERNAL_AUTH_CLAIM_ID: 'sub',
      EXTERNAL_AUTH_CLAIM_EMAIL: 'email',
      EXTERNAL_AUTH_CLAIM_NAME: 'name',
    });
    expect(variables).not.toHaveProperty('EXTERNAL_AUTH_PUBLIC_PATHS');
  });

  it('takes others, the administrator and the identity stack', () => {
    expect(adapter(render('passthrough-claims.yaml'))).toMatchObject({
      EXTERNAL_AUTH_HEADER: 'X-Company-Token',
      EXTERNAL_AUTH_CLAIM_EMAIL: 'profile.mail',
      ADMIN_EMAIL: 'admin@example.com',
      BACKEND_URL: 'https://identity.example.com',
    });
    expect(adapter(render('passthrough.yaml'))['EXTERNAL_AUTH_PUBLIC_PATHS']).toBe('/public,/about');
    expect(secretsOf(render('passthrough.yaml'), 'auth-proxy-adapter')).toMatchObject({
      JWT_SECRET: 'decision-secrets/jwt-secret',
      BACKEND_ANON_KEY: 'decision-secrets/anon-key',
      BACKEND_SERVICE_KEY: 'decision-secrets/service-key',
    });
  });

  it('leaves missing values missing, so that the service names them', () => {
    const objects = render('passthrough-incomplete.yaml');
    for (const name of ['ADMIN_EMAIL', 'BACKEND_URL']) expect(adapter(objects)).not.toHaveProperty(name);
    for (const name of ['JWT_SECRET', 'BACKEND_ANON_KEY', 'BACKEND_SERVICE_KEY'])
      expect(secretsOf(objects, 'auth-proxy-adapter')).not.toHaveProperty(name);
  });

  it.each(['objects-api', 'contexts-api', 'hps-gateway', 'log-collector'])(
    '%s has the same signing secret',
    (service) => {
      expect(secretsOf(render('passthrough.yaml'), service)['JWT_SECRET']).toBe('decision-secrets/jwt-secret');
    },
  );
});

/** Variables of a service by docs/configuration.md, which is written from the code. */
const settingsOf = (service: string): readonly string[] => {
  const page = readFileSync(join(chartsFolder, '../docs/configuration.md'), 'utf8');
  const [, part = ''] = page.split(`<!-- written: settings of ${service} -->`);
  const [table = ''] = part.split('<!-- end of');
  return [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name = '']) => name);
};

/** Variables that only Node or other variables read. */
const NO_SETTINGS = ['NODE_EXTRA_CA_CERTS', 'NODE_ENV', 'NODE_OPTIONS'];
const PARTS_OF_OTHERS = ['DATABASE_PASSWORD', 'CACHE_PASSWORD', 'FLOW_AI_API_KEY', 'TZ'];

describe.each(SERVICES)('the variables of %s', (service) => {
  it.each(valueFiles('values'))('are settings that it has: %s', (file) => {
    const objects = render(file);
    const deployment = find(objects, 'Deployment', service);
    if (deployment === undefined)
      return expect(['gateway-only.yaml', 'no-broker.yaml', 'no-logging.yaml']).toContain(file);
    const [container = null] = listAt(deployment, 'spec.template.spec.containers');
    const names = [
      ...Object.keys(variablesOf(objects, service)),
      ...listAt(container, 'env').map((one) => textAt(one, 'name')),
    ];
    const known = new Set([...settingsOf(service), ...NO_SETTINGS, ...PARTS_OF_OTHERS]);
    expect(known.size).toBeGreaterThan(30);
    expect(names.filter((name) => !known.has(name))).toEqual([]);
    expect(names).toContain('DATABASE_URL');
  });
});

describe('limits', () => {
  it('are those of the chart', () => {
    expect(gateway(render('minimal.yaml'))).toMatchObject({
      HTTP_BODY_LIMIT_BYTES: '134217728',
      ITEM_MAX_BYTES: '20971520',
      RPC_TIMEOUT_MS: '300000',
      LARGE_BODY_MAX_CONCURRENT: '2',
      LARGE_BODY_THRESHOLD_BYTES: '8388608',
      MAX_WORKERS: '128',
    });
    expect(gateway(render('minimal.yaml'))).not.toHaveProperty('BULK_MAX_ITEMS');
    expect(variablesOf(render('minimal.yaml'), 'contexts-api')['CONTEXT_BATCH_DB_CHUNK']).toBe('500');
  });

  it('follow the values', () => {
    expect(gateway(render('other-limits.yaml'))).toMatchObject({
      HTTP_BODY_LIMIT_BYTES: '6291456',
      BULK_MAX_ITEMS: '100000',
      MAX_WORKERS: '32',
    });
  });
});

describe('brokers', () => {
  const own = 'rel-mq-0.rel-mq-pods.decisions.svc:9092';

  it('are those inside the cluster where app.logging.mqBrokers is empty', () => {
    expect(gateway(render('minimal.yaml'))).toMatchObject({ MQ_BROKERS: own, MQ_TOPIC_PREFIX: 'decision.' });
    expect(gateway(render('three-brokers.yaml'))['MQ_BROKERS']?.split(',')).toHaveLength(3);
  });

  it('are none with mq.enabled: false and an empty list: then there is no worker', () => {
    const objects = render('no-broker.yaml');
    expect(gateway(objects)).not.toHaveProperty('MQ_BROKERS');
    expect(find(objects, 'Deployment', 'solve-worker')).toBeUndefined();
    expect(find(objects, 'StatefulSet', 'mq')).toBeUndefined();
  });

  it('outside are used with mq.enabled: false and app.logging.enabled: true, and not with false', () => {
    expect(gateway(render('kafka-bare.yaml'))['MQ_BROKERS']).toBe(
      'b-1.kafka.example.com:9096,b-2.kafka.example.com:9096',
    );
    expect(gateway(render('kafka-bare.yaml', { 'app.logging.enabled': false }))).not.toHaveProperty('MQ_BROKERS');
  });

  it('have no prefix of topics if it is empty', () => {
    expect(gateway(render('no-prefix.yaml'))['MQ_TOPIC_PREFIX']).toBe('');
    expect(at(get(render('no-prefix.yaml'), 'ScaledObject', 'solve-worker'), 'spec.triggers.0.metadata')).toMatchObject(
      {
        topic: 'solution',
        consumerGroup: 'generic-workers',
      },
    );
  });

  it.each([
    ['kafka-plain.yaml', 'plain', 'plaintext'],
    ['kafka-scram-256.yaml', 'scram-sha-256', 'scram_sha256'],
    ['kafka-scram-512.yaml', 'scram-sha-512', 'scram_sha512'],
    ['kafka-aws-iam.yaml', 'aws-iam', 'oauthbearer'],
    ['kafka-oauthbearer.yaml', 'oauthbearer', 'oauthbearer'],
  ])('%s: services and the autoscaler prove who they are by %s', (file, mechanism, sasl) => {
    const objects = render(file);
    for (const service of ['hps-gateway', 'contexts-api', 'solve-worker', 'log-collector'])
      expect(variablesOf(objects, service)).toMatchObject({ MQ_SASL_MECHANISM: mechanism, MQ_SSL: 'true' });
    const trigger = at(get(objects, 'ScaledObject', 'solve-worker'), 'spec.triggers.0');
    expect(trigger).toMatchObject({
      metadata: { sasl, tls: 'enable', bootstrapServers: gateway(objects)['MQ_BROKERS'] ?? '' },
      authenticationRef: { name: file === 'kafka-oauthbearer.yaml' ? 'kafka-oauth' : 'rel-solve-worker' },
    });
  });

  describe('that ask for tokens of a workload identity', () => {
    const CLIENTS = ['hps-gateway', 'contexts-api', 'solve-worker', 'log-collector'];
    const ACCOUNT = 'iam.gke.io/gcp-service-account';
    const annotations = (objects: readonly Rendered[], name: string): Value =>
      at(get(objects, 'ServiceAccount', name), 'metadata')?.['annotations' as never] ?? null;
    const triggerTypes = (objects: readonly Rendered[]): unknown[] =>
      listAt(get(objects, 'ScaledObject', 'solve-worker'), 'spec.triggers').map((trigger) => textAt(trigger, 'type'));

    it('are shown those of Google Cloud, with the account that is given and no login', () => {
      const objects = render('kafka-gcp.yaml');
      const metadataServer = {
        to: [{ ipBlock: { cidr: '169.254.169.252/32' } }, { ipBlock: { cidr: '169.254.169.254/32' } }],
        ports: [
          { protocol: 'TCP', port: 80 },
          { protocol: 'TCP', port: 988 },
        ],
      };
      for (const name of [...CLIENTS, 'topics'])
        expect(listAt(get(objects, 'NetworkPolicy', name), 'spec.egress')).toContainEqual(metadataServer);
      for (const service of CLIENTS) {
        const variables = variablesOf(objects, service);
        expect(variables).toMatchObject({ MQ_SASL_MECHANISM: 'oauthbearer', MQ_SASL_TOKEN_SOURCE: 'gcp' });
        expect(variables).not.toHaveProperty('MQ_SASL_TOKEN_URL');
        expect(secretsOf(objects, service)).not.toHaveProperty('MQ_SASL_PASSWORD');
        expect(annotations(objects, service)).toEqual({ [ACCOUNT]: 'decision@project.iam.gserviceaccount.com' });
      }
      expect(annotations(objects, 'topics')).toEqual({ [ACCOUNT]: 'decision@project.iam.gserviceaccount.com' });
      expect(annotations(objects, 'auth-proxy-adapter')).toBeNull();
    });

    it('need no other values than those of the specification: the account of the bridge is that of the services', () => {
      const objects = render('bridge-gcp.yaml');
      expect(variablesOf(objects, 'hps-gateway')).toMatchObject({ MQ_SASL_TOKEN_SOURCE: 'gcp' });
      expect(annotations(objects, 'hps-gateway')).toEqual({ [ACCOUNT]: 'bridge@project.iam.gserviceaccount.com' });
      const aws = render('bridge-aws.yaml', {
        'app.logging.awsRoleArn': '',
        'hps.workers.autoscaling.kind': 'none',
      });
      const role = { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::111122223333:role/bridge' };
      expect(annotations(aws, 'hps-gateway')).toEqual(role);
    });

    it('are shown the token of the own service account, which Kubernetes keeps in a file', () => {
      const objects = render('kafka-projected-token.yaml');
      const file = '/etc/decision/broker-token/token';
      for (const service of CLIENTS) {
        expect(variablesOf(objects, service)).toMatchObject({
          MQ_SASL_TOKEN_SOURCE: 'file',
          MQ_SASL_TOKEN_FILE: file,
        });
        expect(listAt(get(objects, 'Deployment', service), 'spec.template.spec.volumes')).toContainEqual({
          name: 'broker-token',
          projected: {
            defaultMode: 0o440,
            sources: [
              { serviceAccountToken: { path: 'token', audience: 'kafka.example.com', expirationSeconds: 3_600 } },
            ],
          },
        });
      }
    });

    it('read a file of your own', () => {
      expect(variablesOf(render('kafka-token-file.yaml'), 'solve-worker')).toMatchObject({
        MQ_SASL_TOKEN_SOURCE: 'file',
        MQ_SASL_TOKEN_FILE: '/vault/secrets/kafka',
      });
    });

    it('are watched by keda only with a TriggerAuthentication of your own, which can log in there', () => {
      expect(triggerTypes(render('kafka-projected-token.yaml'))).toContain('kafka');
      const objects = render('kafka-gcp.yaml');
      expect(triggerTypes(objects)).toEqual(['metrics-api', 'metrics-api', 'cpu']);
      expect(objects.filter(({ kind }) => kind === 'TriggerAuthentication')).toEqual([]);
    });
  });

  it('take user name and password from an existing secret by its keys', () => {
    expect(secretsOf(render('kafka-scram-512.yaml'), 'solve-worker')).toMatchObject({
      MQ_SASL_USERNAME: 'kafka-login/user',
      MQ_SASL_PASSWORD: 'kafka-login/pass',
    });
  });

  it.each(['aws', 'gcp'])('log-collector, and it alone, goes over the bridge to those of %s', (provider) => {
    const objects = render(`bridge-${provider}.yaml`);
    const variables = variablesOf(objects, 'log-collector');
    expect(variables['MQ_BROKERS']).toMatch(/^rel-mq-bridge:9092/);
    expect(variables).not.toHaveProperty('MQ_SASL_MECHANISM');
    expect(gateway(objects)['MQ_BROKERS']).toContain('b-1.kafka.example.com');
    expect(get(objects, 'Deployment', 'mq-bridge')).toBeDefined();
  });

  it('inside take the messages and copies that the specification names', () => {
    const properties = String(
      at(get(render('three-brokers.yaml'), 'ConfigMap', 'mq'), 'data')?.['server.properties' as never],
    );
    for (const line of [
      'message.max.bytes=67108864',
      'replica.fetch.max.bytes=134217728',
      'replica.fetch.response.max.bytes=134217728',
      'min.insync.replicas=2',
      'auto.create.topics.enable=false',
    ])
      expect(properties.split('\n')).toContain(line);
  });

  it('get topics with the partitions of the specification, those of answers as many as the workers', () => {
    const variables = (values: Readonly<Record<string, Value>>) => {
      const job = render('minimal.yaml', values).find(
        ({ kind, metadata }) => kind === 'Job' && metadata.name.includes('topics'),
      );
      const [container = null] = job === undefined ? [] : listAt(job, 'spec.template.spec.containers');
      return listAt(container, 'env');
    };
    expect(variables({})).toEqual(
      expect.arrayContaining([
        { name: 'TOPIC_SOLUTION_PARTITIONS', value: '128' },
        { name: 'TOPIC_SOLUTION_RESPONSE_PARTITIONS', value: '128' },
        { name: 'TOPIC_LOGS_PARTITIONS', value: '8' },
        { name: 'TOPIC_LOGS_RETENTION_MS', value: '86400000' },
      ]),
    );
    const commands = (file: string): Value => {
      const job = render(file).find(({ kind, metadata }) => kind === 'Job' && metadata.name.includes('topics'));
      return at(job === undefined ? null : (listAt(job, 'spec.template.spec.containers')[0] ?? null), 'args');
    };
    expect([commands('minimal.yaml'), commands('kafka-projected-token.yaml')]).toEqual([null, ['--dry-run']]);
    expect(variables({ 'hps.workers.solutionPartitions': 48 })).toContainEqual({
      name: 'TOPIC_SOLUTION_RESPONSE_PARTITIONS',
      value: '48',
    });
  });
});

describe('the cache', () => {
  it.each([
    ['minimal.yaml', 'redis://rel-cache:6379'],
    ['first-try.yaml', 'redis://:$(CACHE_PASSWORD)@rel-cache:6379'],
    ['external-cache.yaml', 'rediss://:$(CACHE_PASSWORD)@cache.example.com:6380'],
    ['external-cache-password.yaml', 'redis://decision:$(CACHE_PASSWORD)@cache.example.com:6379'],
    ['no-cache.yaml', null],
  ])('%s: CACHE_URL is %s', (file, url) => {
    expect(valueOf(render(file), 'hps-gateway', 'CACHE_URL')).toBe(url);
  });

  it('takes its password from an existing secret by its key', () => {
    expect(secretsOf(render('external-cache.yaml'), 'hps-gateway')['CACHE_PASSWORD']).toBe('cache-secret/token');
    expect(find(render('external-cache.yaml'), 'StatefulSet', 'cache')).toBeUndefined();
  });
});

describe('the database', () => {
  it('inside is PostgreSQL 17 with logical replication', () => {
    const [container = null] = listAt(
      get(render('minimal.yaml'), 'StatefulSet', 'database'),
      'spec.template.spec.containers',
    );
    expect(listAt(container, 'args')).toContain('wal_level=logical');
    expect(at(container, 'image')).toBe('postgres:17');
  });

  it('outside is reached over TLS that is checked, with a login of the services that does not own the schema', () => {
    const objects = render('external-database.yaml');
    const url =
      'postgresql://decision_service:$(DATABASE_PASSWORD)@postgres.data.example.com:5432/decision?sslmode=verify-full';
    expect(valueOf(objects, 'hps-gateway', 'DATABASE_URL')).toBe(url);
    const job = objects.find(({ kind, metadata }) => kind === 'Job' && metadata.name.includes('migrations'));
    expect(JSON.stringify(job)).toContain(
      'postgresql://decision_owner:$(DATABASE_OWNER_PASSWORD)@postgres.data.example.com',
    );
  });
});

it('broker, cache and database are reached with certificates of private authorities, and of clients', () => {
  const objects = render('private-authorities.yaml');
  const folder = '/etc/decision';
  expect(valueOf(objects, 'hps-gateway', 'DATABASE_URL')).toBe(
    `postgresql://decision_service:$(DATABASE_PASSWORD)@postgres.data.example.com:5432/decision?sslmode=verify-full&sslcert=${folder}/database-tls/tls.crt&sslkey=${folder}/database-tls/tls.key&sslrootcert=${folder}/database-tls/ca.crt`,
  );
  expect(variablesOf(objects, 'hps-gateway')).toMatchObject({
    ...{ CACHE_SSL_CA_FILE: `${folder}/cache-tls/ca.crt`, CACHE_SSL_CERT_FILE: `${folder}/cache-tls/tls.crt` },
    ...{ CACHE_SSL_KEY_FILE: `${folder}/cache-tls/tls.key`, MQ_SSL_CA_FILE: `${folder}/broker-tls/ca.crt` },
    ...{ MQ_SSL_CERT_FILE: `${folder}/broker-tls/tls.crt`, MQ_SSL_KEY_FILE: `${folder}/broker-tls/tls.key` },
  });
  const mountedIn = (pod: Value) =>
    listAt(pod, 'spec.volumes').flatMap((volume) => textAt(volume, 'secret.secretName') || []);
  const templateOf = (kind: string, name: string) => {
    const object = objects.find(({ kind: found, metadata }) => found === kind && metadata.name.includes(name));
    return at(object as Value, 'spec.template');
  };
  expect(mountedIn(templateOf('Deployment', 'hps-gateway'))).toEqual(['database-tls', 'cache-tls', 'broker-tls']);
  expect(mountedIn(templateOf('Deployment', 'log-collector'))).toEqual(['database-tls', 'broker-tls']);
  expect(mountedIn(templateOf('Job', 'migrations'))).toEqual(['database-tls']);
  expect(mountedIn(templateOf('Job', 'topics'))).toEqual(['broker-tls']);
});

it('traces go if the values say, from every service and over one more port, and are off without an address', () => {
  const objects = render('everything-on.yaml');
  for (const name of SERVICES) {
    expect(variablesOf(objects, name)).toMatchObject({
      ...{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.monitoring.svc:4318', OTEL_TRACES_SAMPLER_ARG: '0.05' },
      OTEL_RESOURCE_ATTRIBUTES: expect.stringMatching(/^service.namespace=rel,service.version=\d/) as string,
    });
    const [container = null] = listAt(get(objects, 'Deployment', name), 'spec.template.spec.containers');
    const token = listAt(container, 'env').find((entry) => at(entry, 'name') === 'OTEL_EXPORTER_OTLP_HEADERS');
    expect(at(token ?? null, 'valueFrom.secretKeyRef')).toEqual({ name: 'decision-secrets', key: 'headers' });
    expect(listAt(get(objects, 'NetworkPolicy', name), 'spec.egress')).toContainEqual({
      ports: [{ protocol: 'TCP', port: 4318 }],
    });
    expect(Object.keys(variablesOf(render('minimal.yaml'), name)).join()).not.toContain('OTEL');
  }
});

describe('workers', () => {
  it('are scaled by keda, the autoscaler of Kubernetes, or nothing', () => {
    const kinds = (file: string) => ['ScaledObject', 'HorizontalPodAutoscaler'].map((kind) => find(render(file), kind, 'solve-worker') !== undefined); // prettier-ignore
    expect(kinds('minimal.yaml')).toEqual([true, false]);
    expect(kinds('hpa.yaml')).toEqual([false, true]);
    expect(kinds('no-autoscaling.yaml')).toEqual([false, false]);
    expect(at(get(render('no-autoscaling.yaml'), 'Deployment', 'solve-worker'), 'spec.replicas')).toBe(4);
  });

  it('are scaled by the lag, by what gateways refuse, by what was asked for, and by processor time', () => {
    const scaled = get(render('minimal.yaml'), 'ScaledObject', 'solve-worker');
    expect(at(scaled, 'spec.minReplicaCount')).toBeGreaterThan(0);
    const triggers = listAt(scaled, 'spec.triggers');
    expect(triggers.map((trigger) => at(trigger, 'type'))).toEqual(['kafka', 'metrics-api', 'metrics-api', 'cpu']);
    expect(at(triggers[0] ?? null, 'metadata')).toMatchObject({
      ...{ consumerGroup: 'decision.generic-workers', topic: 'decision.solution', offsetResetPolicy: 'latest' },
    });
    const url = 'http://rel-hps-gateway.decisions.svc:9464/metrics';
    expect(triggers.slice(1, 3)).toEqual([
      {
        ...{ type: 'metrics-api', metricType: 'Value' },
        metadata: { url, format: 'prometheus', valueLocation: 'decision_admission_pressure', targetValue: '0.9' },
      },
      {
        ...{ type: 'metrics-api', metricType: 'AverageValue' },
        metadata: { url, format: 'prometheus', valueLocation: 'decision_desired_workers', targetValue: '1' },
      },
    ]);
  });
});

describe('the ingress', () => {
  it('of Traefik sends each path where the contract does, and asks about people', () => {
    const routes = listAt(get(render('ingress-traefik.yaml'), 'IngressRoute', 'ingress'), 'spec.routes');
    const people = routes
      .filter((route) => !textAt(route, 'match').includes('X-Api-Key'))
      .slice(0, ingressRoutes.length);
    expect(
      people.map((route) => ({
        prefix: /PathRegexp\(`\^(.*?)\(\/\|\$\)`\)/.exec(textAt(route, 'match'))?.[1],
        service: textAt(route, 'services.0.name').replace('rel-', ''),
      })),
    ).toEqual(ingressRoutes);
    const priorities = people.map((route) => Number(at(route, 'priority')));
    expect(priorities).toEqual([...priorities].sort((a, b) => b - a));
    const asked = people.filter((route) => at(route, 'middlewares.0.name') === 'rel-ingress-people');
    expect(asked).toHaveLength(ingressRoutes.filter(({ service }) => service !== 'auth-proxy-adapter').length - 2);
  });

  it('of Envoy Gateway waits longer than a request may run, and its question fails closed', () => {
    const objects = render('ingress-envoy-gateway.yaml');
    const rules = listAt(get(objects, 'HTTPRoute', 'ingress-people'), 'spec.rules');
    expect(new Set(rules.map((rule) => at(rule, 'timeouts.request')))).toEqual(new Set(['330s']));
    expect(at(get(objects, 'SecurityPolicy', 'ingress-people'), 'spec.extAuth.failOpen')).toBe(false);
  });

  it('gives services its address, for links', () => {
    for (const service of ['objects-api', 'auth-proxy-adapter'])
      expect(variablesOf(render('ingress-traefik.yaml'), service)['PUBLIC_URL']).toBe('https://decisions.example.com');
    expect(adapter(render('minimal.yaml'))).not.toHaveProperty('PUBLIC_URL');
  });

  it('of Kubernetes has every route', () => {
    const paths = listAt(get(render('ingress-plain.yaml'), 'Ingress', 'ingress'), 'spec.rules.0.http.paths');
    expect(paths.map((path) => at(path, 'path'))).toEqual(ingressRoutes.map(({ prefix }) => prefix));
  });
});

it('every image is of global.imageRegistry, by tag or digest', () => {
  const { output } = template(UMBRELLA, ['--values', valuePath('values', 'registry.yaml')]);
  const images = [...output.matchAll(/^ *image: (.*)$/gm)].map(([, image = '']) => image);
  expect(images.length).toBeGreaterThan(9);
  expect(images.filter((image) => !image.startsWith('images.example.com/decision/'))).toEqual([]);
  expect(images).toContain('images.example.com/decision/objects-api:1.2.3-rc.1');
  expect(images.some((image) => image.includes('/hps-gateway@sha256:'))).toBe(true);
});
