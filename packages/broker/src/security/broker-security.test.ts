import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brokerSecurity, type BrokerSecurityValues } from './broker-security';

const NOTHING: BrokerSecurityValues = {
  mqSsl: false,
  mqSslCaFile: undefined,
  mqSslCertFile: undefined,
  mqSslKeyFile: undefined,
  mqSslServerName: undefined,
  mqSaslMechanism: undefined,
  mqSaslUsername: undefined,
  mqSaslPassword: undefined,
  mqSaslRegion: undefined,
  mqSaslTokenUrl: undefined,
  mqSaslScope: undefined,
  mqSaslTokenSource: undefined,
  mqSaslTokenFile: undefined,
  gcpMetadataHost: 'metadata.google.internal',
  awsSessionToken: undefined,
  awsContainerCredentialsUrl: undefined,
  awsContainerTokenFile: undefined,
};
const read = (values: Partial<BrokerSecurityValues>) => brokerSecurity({ ...NOTHING, ...values });
const account = { mqSaslUsername: 'alice', mqSaslPassword: { reveal: () => 'hush' } };

it('asks for nothing if nothing is set', () => {
  expect(read({})).toEqual({ ok: true, settings: {} });
  expect(read({ mqSsl: true })).toEqual({ ok: true, settings: { tls: {} } });
});

it.each(['plain', 'scram-sha-256', 'scram-sha-512'] as const)('takes an account for %s', (mqSaslMechanism) => {
  expect(read({ mqSaslMechanism, ...account })).toEqual({
    ok: true,
    settings: { sasl: { mechanism: mqSaslMechanism, username: 'alice', password: 'hush' } },
  });
});

it.each([
  { mqSaslMechanism: 'oauthbearer' as const, mqSaslTokenUrl: 'https://id.example/token', ...account },
  { mqSaslMechanism: 'oauthbearer' as const, mqSaslTokenFile: '/var/run/token' },
  { mqSaslMechanism: 'oauthbearer' as const, mqSaslTokenSource: 'gcp' as const, mqSsl: true },
  { mqSaslMechanism: 'aws-iam' as const, mqSsl: true, mqSaslRegion: 'eu-west-1', ...account },
  {
    mqSaslMechanism: 'aws-iam' as const,
    mqSsl: true,
    mqSaslRegion: 'eu-west-1',
    awsContainerCredentialsUrl: 'http://169.254.170.23/v1/credentials',
  },
  { mqSaslMechanism: 'aws-iam' as const, mqSsl: true, mqSaslRegion: 'eu-west-1' },
])('makes a source of tokens of %o', (values) => {
  expect(read(values)).toMatchObject({
    ok: true,
    settings: { sasl: { mechanism: values.mqSaslMechanism, token: expect.any(Function) as unknown } },
  });
});

describe('files', () => {
  const directory = mkdtempSync(join(tmpdir(), 'security-'));
  const file = (name: string): string => join(directory, name);
  writeFileSync(file('ca'), 'authority');
  writeFileSync(file('cert'), 'certificate');
  writeFileSync(file('key'), 'private');
  afterAll(() => rmSync(directory, { recursive: true }));

  it('are read', () => {
    expect(
      read({
        mqSsl: true,
        mqSslCaFile: file('ca'),
        mqSslCertFile: file('cert'),
        mqSslKeyFile: file('key'),
        mqSslServerName: 'kafka.example',
      }),
    ).toEqual({
      ok: true,
      settings: { tls: { ca: 'authority', cert: 'certificate', key: 'private', serverName: 'kafka.example' } },
    });
  });

  it('are all named if they cannot be read', () => {
    expect(
      read({ mqSsl: true, mqSslCaFile: file('none'), mqSslCertFile: directory, mqSslKeyFile: file('key') }),
    ).toEqual({
      ok: false,
      faults: [
        `MQ_SSL_CA_FILE names ${file('none')}, which cannot be read (ENOENT).`,
        `MQ_SSL_CERT_FILE names ${directory}, which cannot be read (EISDIR).`,
      ],
    });
  });
});

it.each<[Partial<BrokerSecurityValues>, string[]]>([
  [{ mqSslServerName: 'x' }, ['MQ_SSL_SERVER_NAME is set, but MQ_SSL is not true.']],
  [{ mqSsl: true, mqSslKeyFile: '/k' }, ['MQ_SSL_CERT_FILE and MQ_SSL_KEY_FILE are set together or not at all.']],
  [
    account,
    [
      'MQ_SASL_USERNAME is set, but MQ_SASL_MECHANISM is not.',
      'MQ_SASL_PASSWORD is set, but MQ_SASL_MECHANISM is not.',
    ],
  ],
  [
    { mqSaslMechanism: 'scram-sha-512', mqSaslUsername: 'alice' },
    ['MQ_SASL_MECHANISM is scram-sha-512, which needs MQ_SASL_PASSWORD.'],
  ],
  [
    { mqSaslMechanism: 'oauthbearer' },
    [
      'MQ_SASL_MECHANISM is oauthbearer, which needs MQ_SASL_TOKEN_URL with MQ_SASL_USERNAME and MQ_SASL_PASSWORD, or MQ_SASL_TOKEN_FILE, ' +
        'or MQ_SASL_TOKEN_SOURCE=gcp.',
    ],
  ],
  [
    { mqSaslMechanism: 'oauthbearer', mqSaslTokenUrl: 'https://id.example/token', mqSaslTokenFile: '/token' },
    [
      'MQ_SASL_MECHANISM is oauthbearer, which needs MQ_SASL_USERNAME.',
      'MQ_SASL_MECHANISM is oauthbearer, which needs MQ_SASL_PASSWORD.',
      'MQ_SASL_TOKEN_FILE is set, but MQ_SASL_TOKEN_SOURCE is client-credentials by default.',
    ],
  ],
  [
    { mqSaslMechanism: 'oauthbearer', mqSaslTokenSource: 'file', mqSaslScope: 'kafka' },
    [
      'MQ_SASL_MECHANISM is oauthbearer, which needs MQ_SASL_TOKEN_FILE.',
      'MQ_SASL_SCOPE is set, but MQ_SASL_TOKEN_SOURCE is file.',
    ],
  ],
  [
    { mqSaslMechanism: 'oauthbearer', mqSaslTokenSource: 'gcp', mqSaslTokenUrl: 'https://id.example/token' },
    [
      'MQ_SASL_TOKEN_URL is set, but MQ_SASL_TOKEN_SOURCE is gcp.',
      'MQ_SASL_TOKEN_SOURCE is gcp, which needs MQ_SSL to be true.',
    ],
  ],
  [
    { mqSaslTokenSource: 'gcp', mqSaslTokenFile: '/token' },
    [
      'MQ_SASL_TOKEN_SOURCE is set, but MQ_SASL_MECHANISM is not.',
      'MQ_SASL_TOKEN_FILE is set, but MQ_SASL_MECHANISM is not.',
    ],
  ],
  [
    { mqSaslMechanism: 'aws-iam', mqSaslUsername: 'AKID' },
    [
      'MQ_SASL_MECHANISM is aws-iam, which needs MQ_SASL_REGION.',
      'MQ_SASL_MECHANISM is aws-iam, which needs MQ_SSL to be true.',
      'MQ_SASL_USERNAME (access key id) and MQ_SASL_PASSWORD (its secret) are set together or not.',
    ],
  ],
])('refuses %o with every reason', (values, faults) => {
  const result = read(values);
  expect(result.ok ? [] : result.faults.filter((fault) => !fault.includes('cannot be read'))).toEqual(faults);
});
