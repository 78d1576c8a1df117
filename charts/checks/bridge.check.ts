import { type Value } from '../src/chart-values';
import { at, get, listAt, render, textAt, textsAt } from './render';

/** Flags of `kafka-proxy server` (cmd/kafka-proxy/server.go of its repository) that the chart may use. */
const FLAGS = [
  ...['bootstrap-server-mapping', 'dynamic-listeners-disable', 'http-listen-address', 'tls-enable', 'sasl-enable'],
  ...['sasl-method', 'sasl-aws-region', 'sasl-plugin-enable', 'sasl-plugin-mechanism', 'sasl-plugin-command'],
  ...['sasl-plugin-param', 'sasl-plugin-log-level'],
];

const containerOf = (file: string, values: Readonly<Record<string, Value>> = {}): Value => {
  const [container = null] = listAt(
    get(render(file, values), 'Deployment', 'mq-bridge'),
    'spec.template.spec.containers',
  );
  return container;
};

const argumentsOf = (file: string, values: Readonly<Record<string, Value>> = {}): readonly string[] =>
  textsAt(containerOf(file, values), 'args');

it('to AWS proves itself by the role of its account, over TLS', () => {
  expect(argumentsOf('bridge-aws.yaml')).toEqual([
    'server',
    '--bootstrap-server-mapping=b-1.kafka.example.com:9098,:9092,rel-mq-bridge:9092',
    '--bootstrap-server-mapping=b-2.kafka.example.com:9098,:9093,rel-mq-bridge:9093',
    ...['--dynamic-listeners-disable', '--tls-enable', '--sasl-enable'],
    ...['--sasl-method=AWS_MSK_IAM', '--sasl-aws-region=eu-central-1', '--http-listen-address=:9080'],
  ]);
  expect(at(get(render('bridge-aws.yaml'), 'ServiceAccount', 'mq-bridge'), 'metadata.annotations')).toEqual({
    'eks.amazonaws.com/role-arn': 'arn:aws:iam::111122223333:role/bridge',
  });
});

it('to Google Cloud proves itself by tokens of its account, over TLS', () => {
  expect(argumentsOf('bridge-gcp.yaml')).toEqual([
    'server',
    '--bootstrap-server-mapping=bootstrap.kafka.example.com:9092,:9092,rel-mq-bridge:9092',
    ...['--dynamic-listeners-disable', '--tls-enable', '--sasl-enable'],
    ...['--sasl-plugin-enable', '--sasl-plugin-mechanism=OAUTHBEARER'],
    ...['--sasl-plugin-command=/opt/kafka-proxy/bin/google-id-provider', '--sasl-plugin-param=--adc'],
    ...['--sasl-plugin-log-level=warn', '--http-listen-address=:9080'],
  ]);
  expect(at(get(render('bridge-gcp.yaml'), 'ServiceAccount', 'mq-bridge'), 'metadata.annotations')).toEqual({
    'iam.gke.io/gcp-service-account': 'bridge@project.iam.gserviceaccount.com',
  });
});

it('to Google Cloud takes another plugin for tokens', () => {
  const given = { 'mqBridge.tokenPlugin.command': '/opt/tokens', 'mqBridge.tokenPlugin.arguments': ['--a=1', '--b'] };
  const flags = argumentsOf('bridge-gcp.yaml', given).filter((flag) => /-(command|param)=/.test(flag));
  expect(flags).toEqual(['--sasl-plugin-command=/opt/tokens', '--sasl-plugin-param=--a=1', '--sasl-plugin-param=--b']);
});

describe.each(['bridge-aws.yaml', 'bridge-gcp.yaml'])('%s', (file) => {
  it('uses flags that kafka-proxy has', () => {
    const used = argumentsOf(file).slice(1).map((flag) => /^--([a-z-]+)/.exec(flag)?.[1]); // prettier-ignore
    expect(used.filter((name) => name === undefined || !FLAGS.includes(name))).toEqual([]);
  });

  it('has no credentials, in arguments or in variables', () => {
    const container = JSON.stringify(containerOf(file));
    expect(container).not.toMatch(/username|password|secretKeyRef|jaas|credentials/i);
    expect(at(containerOf(file), 'env')).toBeNull();
  });

  it('listens at every address of the pod, of both families', () => {
    const listeners = argumentsOf(file).flatMap((flag) => {
      const [, mapping] = /^--bootstrap-server-mapping=(.*)$/.exec(flag) ?? [];
      const [, address] = /^--http-listen-address=(.*)$/.exec(flag) ?? [];
      return [mapping?.split(',')[1], address].filter((text) => text !== undefined);
    });
    const ports = listAt(containerOf(file), 'ports').map((port) => `:${Number(at(port, 'containerPort'))}`);
    expect(listeners.length).toBeGreaterThan(1);
    expect([...listeners].sort()).toEqual([...ports].sort());
  });

  it('is a Service with a port for each broker, by which log-collector reaches it', () => {
    const objects = render(file);
    const ports = listAt(get(objects, 'Service', 'mq-bridge'), 'spec.ports').map((port) => Number(at(port, 'port')));
    const brokers = textAt(get(objects, 'ConfigMap', 'log-collector'), 'data.MQ_BROKERS').split(',');
    expect(brokers).toEqual(ports.map((port) => `rel-mq-bridge:${port}`));
    const policy = get(objects, 'NetworkPolicy', 'mq-bridge');
    expect(listAt(policy, 'spec.ingress')).toHaveLength(1);
    expect(textsAt(policy, 'spec.policyTypes')).toEqual(['Ingress', 'Egress']);
  });
});
