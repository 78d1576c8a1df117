import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chartsFolder, type Value } from '../src/chart-values';
import { at, find, get, listAt, render, textAt, variablesOf } from './render';

/** Parameters of a TriggerAuthentication with what each refers to, `kind of source: name/key`. */
const parametersOf = (file: string, values: Readonly<Record<string, Value>> = {}): Readonly<Record<string, string>> => {
  const spec = at(get(render(file, values), 'TriggerAuthentication', 'solve-worker'), 'spec');
  return Object.fromEntries(
    ['secretTargetRef', 'configMapTargetRef'].flatMap((source) =>
      listAt(spec, source).map((reference) => [
        textAt(reference, 'parameter'),
        `${source}: ${textAt(reference, 'name')}/${textAt(reference, 'key')}`,
      ]),
    ),
  );
};

const lagTriggerOf = (file: string): Value => at(get(render(file), 'ScaledObject', 'solve-worker'), 'spec.triggers.0');

// The names are those of KEDA's trigger `kafka`: https://keda.sh/docs/2.14/scalers/apache-kafka/.
describe('keda proves itself to the brokers', () => {
  it('by nothing at the broker inside, and if brokers ask for nothing', () => {
    for (const file of ['minimal.yaml', 'kafka-bare.yaml']) {
      expect(find(render(file), 'TriggerAuthentication', 'solve-worker')).toBeUndefined();
      expect(at(lagTriggerOf(file), 'authenticationRef')).toBeNull();
    }
    expect(at(lagTriggerOf('kafka-bare.yaml'), 'metadata')).toMatchObject({ sasl: 'none', tls: 'disable' });
  });

  it.each([
    [
      'kafka-plain.yaml',
      'rel-decision-service-values/MQ_SASL_USERNAME',
      'rel-decision-service-values/MQ_SASL_PASSWORD',
    ],
    ['kafka-scram-256.yaml', 'kafka-login/username', 'kafka-login/password'],
  ])('%s: by user name and password', (file, username, password) => {
    expect(parametersOf(file)).toEqual({
      ...{ username: `secretTargetRef: ${username}`, password: `secretTargetRef: ${password}` },
    });
  });

  it('by certificates beside them', () => {
    expect(parametersOf('kafka-scram-512.yaml')).toEqual({
      ...{ username: 'secretTargetRef: kafka-login/user', password: 'secretTargetRef: kafka-login/pass' },
      ...{ ca: 'secretTargetRef: kafka-tls/ca.crt', cert: 'secretTargetRef: kafka-tls/tls.crt' },
      key: 'secretTargetRef: kafka-tls/tls.key',
    });
  });

  it('by the client of OAuth, whose token endpoint and scope it reads where the workers do', () => {
    const file = 'kafka-oauthbearer-scope.yaml';
    expect(parametersOf(file)).toEqual({
      ...{ username: 'secretTargetRef: kafka-login/username', password: 'secretTargetRef: kafka-login/password' },
      ...{ ca: 'secretTargetRef: kafka-tls/ca.crt' },
      oauthTokenEndpointUri: 'configMapTargetRef: rel-solve-worker/MQ_SASL_TOKEN_URL',
      scopes: 'configMapTargetRef: rel-solve-worker/MQ_SASL_SCOPE',
    });
    expect(variablesOf(render(file), 'solve-worker')).toMatchObject({
      ...{ MQ_SASL_TOKEN_URL: 'https://identity.example.com/token', MQ_SASL_SCOPE: 'kafka' },
    });
    expect(at(lagTriggerOf(file), 'metadata')).toMatchObject({ sasl: 'oauthbearer', tls: 'enable' });
    expect(at(lagTriggerOf(file), 'metadata.saslTokenProvider')).toBeNull();
  });

  it('by no scope if there is none', () => {
    const parameters = parametersOf('kafka-oauthbearer.yaml', {
      ...{ 'app.logging.mqSasl.scope': '', 'hps.workers.autoscaling.triggerAuthentication': '' },
    });
    expect(Object.keys(parameters).sort()).toEqual(['oauthTokenEndpointUri', 'password', 'username']);
  });

  it('not at all if the services log in by tokens that keda cannot get: other triggers scale the workers then', () => {
    expect(find(render('bridge-gcp.yaml'), 'TriggerAuthentication', 'solve-worker')).toBeUndefined();
    const triggers = listAt(get(render('bridge-gcp.yaml'), 'ScaledObject', 'solve-worker'), 'spec.triggers');
    expect(triggers.map((trigger) => textAt(trigger, 'type')).sort()).toEqual(['cpu', 'metrics-api', 'metrics-api']);
  });

  it.each(['kafka-aws-iam.yaml', 'bridge-aws.yaml'])('%s: by the role of AWS that the services have', (file) => {
    expect(at(get(render(file), 'TriggerAuthentication', 'solve-worker'), 'spec')).toEqual({
      podIdentity: { provider: 'aws', roleArn: 'arn:aws:iam::111122223333:role/decision' },
    });
    expect(at(lagTriggerOf(file), 'metadata')).toMatchObject({
      ...{ sasl: 'oauthbearer', saslTokenProvider: 'aws_msk_iam', awsRegion: 'eu-central-1', tls: 'enable' },
    });
  });

  it('by keys of AWS', () => {
    expect(
      at(get(render('kafka-aws-keys.yaml'), 'TriggerAuthentication', 'solve-worker'), 'spec.podIdentity'),
    ).toBeNull();
    expect(parametersOf('kafka-aws-keys.yaml')).toEqual({
      awsAccessKeyID: 'secretTargetRef: aws-keys/username',
      awsSecretAccessKey: 'secretTargetRef: aws-keys/password',
    });
  });

  it('by an object of yours', () => {
    expect(at(lagTriggerOf('kafka-oauthbearer.yaml'), 'authenticationRef')).toEqual({ name: 'kafka-oauth' });
    expect(find(render('kafka-oauthbearer.yaml'), 'TriggerAuthentication', 'solve-worker')).toBeUndefined();
  });
});

it('keda with a Prometheus follows how long requests wait in workers, and in nothing else', () => {
  const triggers = listAt(get(render('keda-prometheus.yaml'), 'ScaledObject', 'solve-worker'), 'spec.triggers');
  const of = '{namespace="decisions",service="solve-worker"}[2m]';
  expect(triggers.at(-1)).toEqual({
    ...{ type: 'prometheus', metricType: 'Value' },
    metadata: {
      serverAddress: 'http://prometheus.monitoring.svc:9090',
      query: `sum(rate(decision_responder_wait_seconds_sum${of})) / (sum(rate(decision_responder_wait_seconds_count${of})) > 0)`,
      threshold: '0.05',
      ignoreNullValues: 'true',
    },
  });
});

describe('the autoscaler of Kubernetes', () => {
  const metricsOf = (file: string) =>
    listAt(get(render(file), 'HorizontalPodAutoscaler', 'solve-worker'), 'spec.metrics');
  const cpu = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } };

  it('scales by processor time alone unless an adapter has more', () => {
    expect(metricsOf('hpa.yaml')).toEqual([cpu]);
  });

  it('scales by one number for all workers', () => {
    const metric = {
      name: 'decision_admission_pressure',
      selector: { matchLabels: { namespace: 'decisions' } },
    };
    expect(metricsOf('hpa-metric.yaml')).toEqual([
      cpu,
      { type: 'External', external: { metric, target: { type: 'Value', value: '900m' } } },
    ]);
  });

  it('scales by the mean of the workers', () => {
    const target = { type: 'AverageValue', averageValue: '50m' };
    expect(metricsOf('hpa-pods-metric.yaml')).toEqual([
      cpu,
      { type: 'Pods', pods: { metric: { name: 'decision_responder_wait_seconds' }, target } },
    ]);
  });

  it.each(['hpa-metric.yaml', 'hpa-pods-metric.yaml'])('%s: the metric is one that services have', (file) => {
    const [, metric = null] = metricsOf(file);
    const name = textAt(metric, 'external.metric.name') || textAt(metric, 'pods.metric.name');
    const documented = readFileSync(join(chartsFolder, '../docs/administration.md'), 'utf8');
    expect(documented).toContain(`\`${name}`);
  });
});
