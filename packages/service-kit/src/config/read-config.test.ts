import { inspect } from 'node:util';
import { limits } from '@decision/contracts';
import { ConfigError, describeSettings, readConfig, settingsTable } from './read-config';
import {
  brokerSettings,
  cacheSettings,
  databaseSettings,
  httpSettings,
  inputSettings,
  processSettings,
} from './service-settings';
import { flag, limit, list, oneOf, optional, secret, type SettingsShape, text, url, wholeNumber } from './setting';

describe('the configuration', () => {
  const shape = {
    count: wholeNumber('COUNT', { default: 3, min: 1, max: 10, meaning: 'How many.' }),
    mode: oneOf('MODE', ['fast', 'slow'], { default: 'fast', meaning: 'Which way.' }),
    names: list('NAMES', { default: [], meaning: 'Who.' }),
    on: flag('ON', { meaning: 'Whether.' }),
    password: optional(secret('PASSWORD', { minLength: 8, meaning: 'A secret.' })),
    label: text('LABEL', { default: 'x', emptyIsValue: true, meaning: 'A label.' }),
  };

  it('reads defaults, values, lists, flags and empty texts', () => {
    expect(readConfig(shape, {})).toMatchObject({
      count: 3,
      mode: 'fast',
      names: [],
      on: false,
      password: undefined,
      label: 'x',
    });
    const read = readConfig(shape, { COUNT: '10', MODE: 'slow', NAMES: ' a, b ,', ON: 'TRUE', LABEL: '' });
    expect(read).toMatchObject({ count: 10, mode: 'slow', names: ['a', 'b'], on: true, label: '' });
    expect(readConfig(shape, { COUNT: '' }).count).toBe(3);
  });

  it('names every bad value at once, and shows no secret', () => {
    const read = () => readConfig(shape, { COUNT: '11', MODE: 'sideways', ON: 'perhaps', PASSWORD: 'hunter2' });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(/COUNT="11" is above 10[^]*MODE="sideways"[^]*fast, slow[^]*ON[^]*PASSWORD/);
    expect(read).not.toThrow(/hunter2/);
  });

  it('lists its faults as data too, one per setting, without secrets', () => {
    let thrown: unknown;
    try {
      readConfig({ ...databaseSettings, ...shape }, { COUNT: 'x', PASSWORD: 'hunter2', DATABASE_URL: 'hunter2' });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({
      name: 'ConfigError',
      message: expect.stringMatching(/^The configuration has 3 faults:\n(  - .*\.\n?){3}$/),
      faults: [{ env: 'DATABASE_URL' }, { env: 'COUNT' }, { env: 'PASSWORD' }],
    });
    expect(`${inspect(thrown, { depth: 9 })} ${JSON.stringify(thrown)}`).not.toContain('hunter2');
  });

  it('shows a bad value in part, on one line, and without the password of an address', () => {
    const read = (value: string) => () => readConfig({ mode: shape.mode }, { MODE: value });
    expect(read('x'.repeat(10_000))).toThrow(/^.{0,50}\n.{0,250}$/);
    expect(read('a\nb')).toThrow('MODE="a\\nb" is none of these');
    expect(read('https://me:hunter2@h/')).toThrow('https://[secret]@h/');
  });

  it('never shows a secret that was read', () => {
    const { password } = readConfig(shape, { PASSWORD: 'correct horse' });
    expect(password?.reveal()).toBe('correct horse');
    expect(`${String(password)} ${JSON.stringify({ password })} ${inspect({ password })}`).not.toContain('horse');
  });

  it.each([
    ['DATABASE_URL', undefined],
    ['DATABASE_URL', 'mysql://localhost/x'],
    ['CACHE_URL', 'localhost:6379'],
    ['MQ_BROKERS', 'localhost'],
    ['MQ_TOPIC_PREFIX', 'a b'],
    ['PORT', '70000'],
  ])('refuses %s=%s', (name, value) => {
    const all = { ...httpSettings(1), ...databaseSettings, ...cacheSettings, ...brokerSettings };
    const environment = { DATABASE_URL: 'postgres://u:p@h/d', [name]: value };
    expect(() => readConfig(all, environment)).toThrow(new RegExp(`- ${name}`));
  });

  it('has defaults for everything except the database', () => {
    const all = { ...httpSettings(4000), ...databaseSettings, ...cacheSettings, ...brokerSettings };
    const { databaseUrl, ...rest } = readConfig(all, { DATABASE_URL: 'postgresql://u:p@h/d' });
    expect(databaseUrl.reveal()).toBe('postgresql://u:p@h/d');
    expect(rest).toEqual({
      host: undefined,
      trustedProxies: 0,
      proxySecret: undefined,
      port: 4000,
      metricsPort: undefined,
      apiMetrics: true,
      bodyLimitBytes: 6 * 1024 * 1024,
      requestTimeoutMs: 60_000,
      keepAliveMs: 75_000,
      shutdownGraceMs: 5_000,
      logRequests: false,
      databasePoolMax: 10,
      cacheUrl: undefined,
      ...{ cacheSslCaFile: undefined, cacheSslCertFile: undefined, cacheSslKeyFile: undefined },
      cacheKeyPrefix: 'decision:',
      mqBrokers: [],
      mqTopicPrefix: 'decision.',
      mqSsl: false,
      gcpMetadataHost: 'metadata.google.internal',
      executionMessageBytes: 33_554_432,
      logMessageBytes: 67_108_864,
    });
  });

  it('reads brokers by name and by address', () => {
    const { mqBrokers } = readConfig(brokerSettings, { MQ_BROKERS: 'kafka-0.kafka:9092, 10.0.0.1:9092,[::1]:9092' });
    expect(mqBrokers).toEqual(['kafka-0.kafka:9092', '10.0.0.1:9092', '[::1]:9092']);
  });

  it('takes an empty topic prefix as one', () => {
    expect(readConfig(brokerSettings, { MQ_TOPIC_PREFIX: '' }).mqTopicPrefix).toBe('');
    expect(readConfig(brokerSettings, {}).mqTopicPrefix).toBe('decision.');
  });

  it('refuses sizes that do not fit each other, and says by how much', () => {
    const read = (env: Record<string, string>) => () => readConfig({ ...brokerSettings, ...inputSettings }, env);
    expect(
      read({ EXECUTION_MESSAGE_BYTES: '8388608', ITEM_MAX_BYTES: '7864320', CHUNK_BYTES: '524288' }),
    ).not.toThrow();
    expect(read({ EXECUTION_MESSAGE_BYTES: '8388608' })).toThrow(
      /- ITEM_MAX_BYTES is above 7864320, which EXECUTION_MESSAGE_BYTES of 8388608 leaves it: lower it or raise EXECUTION_MESSAGE_BYTES.*\n.*- CHUNK_BYTES is above 524288/,
    );
    expect(read({ ITEM_MAX_BYTES: '31457280' })).not.toThrow();
  });

  it('writes the table of a service', () => {
    expect(settingsTable(databaseSettings)).toMatch(/\| `DATABASE_URL` \| required \|.*\(secret\)/);
  });
});

describe('the table of settings', () => {
  const row = (shape: SettingsShape) => describeSettings(shape)[0];

  it('describes the settings in the order of the shape', () => {
    const names = describeSettings({ ...databaseSettings, ...cacheSettings, ...brokerSettings }).map(
      ({ name }) => name,
    );
    expect(names).toEqual([
      'DATABASE_URL',
      'DATABASE_POOL_MAX',
      'CACHE_URL',
      'CACHE_SSL_CA_FILE',
      'CACHE_SSL_CERT_FILE',
      'CACHE_SSL_KEY_FILE',
      'CACHE_KEY_PREFIX',
      'MQ_BROKERS',
      'MQ_TOPIC_PREFIX',
      'MQ_SSL',
      'MQ_SSL_CA_FILE',
      'MQ_SSL_CERT_FILE',
      'MQ_SSL_KEY_FILE',
      'MQ_SSL_SERVER_NAME',
      'MQ_SASL_MECHANISM',
      'MQ_SASL_USERNAME',
      'MQ_SASL_PASSWORD',
      'MQ_SASL_REGION',
      'MQ_SASL_TOKEN_URL',
      'MQ_SASL_SCOPE',
      'MQ_SASL_TOKEN_SOURCE',
      'MQ_SASL_TOKEN_FILE',
      'GCE_METADATA_HOST',
      'AWS_SESSION_TOKEN',
      'AWS_CONTAINER_CREDENTIALS_FULL_URI',
      'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
      'EXECUTION_MESSAGE_BYTES',
      'LOG_MESSAGE_BYTES',
    ]);
  });

  it('says of a required secret what is accepted, and no default', () => {
    expect(row(databaseSettings)).toEqual({
      name: 'DATABASE_URL',
      default: undefined,
      required: true,
      secret: true,
      accepts: 'an address that begins with postgres:// or postgresql://',
      meaning: expect.stringContaining('PostgreSQL database, 16 or 17, with wal_level = logical.') as string,
    });
  });

  it('says of a limit its bounds and unit', () => {
    const { env, defaultValue, min, max } = limits.httpBodyBytes;
    expect(row({ size: limit(limits.httpBodyBytes) })).toMatchObject({
      name: env,
      default: String(defaultValue),
      required: false,
      accepts: `a whole number from ${min} to ${max} (bytes)`,
    });
  });

  it.each<[string, SettingsShape, string | undefined, boolean]>([
    ['an empty text', { it: text('IT', { default: '', meaning: 'M.' }) }, '(empty)', false],
    ['an empty list', { it: list('IT', { default: [], meaning: 'M.' }) }, '(empty)', false],
    ['a list', { it: list('IT', { default: ['a', 'b'], meaning: 'M.' }) }, 'a,b', false],
    ['a flag', { it: flag('IT', { meaning: 'M.' }) }, 'false', false],
    ['a text without default', { it: text('IT', { meaning: 'M.' }) }, undefined, true],
    ['an optional secret', { it: optional(secret('IT', { meaning: 'M.' })) }, undefined, false],
  ])('writes the default of %s as an operator would', (_what, shape, defaultText, required) => {
    expect(row(shape)).toMatchObject({ default: defaultText, required });
  });

  it('shows no default of a secret address', () => {
    const address = url('IT', { protocols: ['redis'], secret: true, default: 'redis://:hunter2@h', meaning: 'M.' });
    expect(JSON.stringify(row({ it: address }))).not.toContain('hunter2');
  });

  it('describes every shared setting', () => {
    const shape = { ...processSettings, ...httpSettings(1), ...databaseSettings, ...cacheSettings, ...brokerSettings };
    for (const { name, meaning, accepts } of describeSettings(shape)) {
      expect(name).toMatch(/^[A-Z][A-Z_]+$/);
      expect(meaning).toMatch(/^[A-Z].*\.$/);
      expect(accepts).not.toBe('');
    }
  });
});
