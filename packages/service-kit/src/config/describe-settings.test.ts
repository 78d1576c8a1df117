import { limits } from '@decision/contracts';
import { describeSettings } from './describe-settings';
import { brokerSettings, cacheSettings, databaseSettings } from './infrastructure-settings';
import { httpSettings, processSettings } from './service-settings';
import { optional, type SettingsShape } from './setting';
import { flag, limit, list, secret, text } from './setting-builders';
import { url } from './url-setting';

const row = (shape: SettingsShape) => describeSettings(shape)[0];

it('describes each setting in the order of the shape', () => {
  const names = describeSettings({ ...databaseSettings, ...cacheSettings, ...brokerSettings }).map(({ name }) => name);
  expect(names).toEqual([
    'DATABASE_URL',
    'DATABASE_POOL_MAX',
    'CACHE_URL',
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
    'AWS_SESSION_TOKEN',
    'AWS_CONTAINER_CREDENTIALS_FULL_URI',
    'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
  ]);
});

it('says of a required secret what is accepted, and no default', () => {
  expect(row(databaseSettings)).toEqual({
    name: 'DATABASE_URL',
    default: undefined,
    required: true,
    secret: true,
    accepts: 'an address that begins with postgres:// or postgresql://',
    meaning: 'The PostgreSQL database, 16 or 17, with wal_level = logical.',
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

it('has a sentence for every setting that services share', () => {
  const shape = { ...processSettings, ...httpSettings(1), ...databaseSettings, ...cacheSettings, ...brokerSettings };
  for (const { name, meaning, accepts } of describeSettings(shape)) {
    expect(name).toMatch(/^[A-Z][A-Z_]+$/);
    expect(meaning).toMatch(/^[A-Z].*\.$/);
    expect(accepts).not.toBe('');
  }
});
