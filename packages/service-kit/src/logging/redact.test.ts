import { Secret } from '../config/setting';
import { describeError, isSecretName, redact, scrubText } from './redact';

it.each([
  'authorization',
  'Proxy-Authorization',
  'X-API-Key',
  'api_key',
  'set-cookie',
  'PASSWORD',
  'dbPassword',
  'refresh_token',
  'clientSecret',
  'private_key',
  'password2',
  'smtp_passwd',
  'AWS_SECRET_ACCESS_KEY',
])('treats %s as the name of a secret', (name) => expect(isSecretName(name)).toBe(true));

it.each(['key', 'keyId', 'tokens_used', 'slug', 'code', 'passwordless', 'secretary'])(
  'does not treat %s as one',
  (name) => expect(isSecretName(name)).toBe(false),
);

it('bounds depth and width, and shows neither bytes nor secrets', () => {
  const deep = { a: { b: { c: { d: { e: { f: { g: 1 } } } } } } };
  const wide = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${index}`, index]));
  const copy = redact({
    deep,
    wide,
    list: Array(500).fill(0),
    bytes: Buffer.from('hidden'),
    secret: 1,
    kept: new Secret('hidden'),
  });
  const text = JSON.stringify(copy);
  expect(text).not.toContain('hidden');
  expect(text).toContain('[deeper]');
  expect(Object.keys(copy['wide'] as object)).toHaveLength(100);
  expect(copy['list']).toHaveLength(100);
});

it('never changes its argument', () => {
  const given = { password: 'x', inner: { token: 'y' } };
  redact(given);
  expect(given).toEqual({ password: 'x', inner: { token: 'y' } });
});

describe('errors', () => {
  it('lose the fields that drivers add', () => {
    const error = Object.assign(new Error('duplicate'), {
      code: '23505',
      detail: 'Key (email)=(a@b) exists',
      query: 'insert',
      parameters: ['x'],
    });
    expect(Object.keys(describeError(error)).sort()).toEqual(['code', 'message', 'stack', 'type']);
  });

  it('keep the stack and lose the input that they quote', () => {
    let thrown: unknown;
    try {
      JSON.parse('{"iban": hunter2}');
    } catch (error) {
      thrown = new Error('A rule cannot be read.', { cause: error });
    }
    const { cause } = describeError(thrown);
    expect(cause).toMatchObject({ type: 'SyntaxError', stack: expect.stringContaining('redact.test') as unknown });
    expect(JSON.stringify(cause)).not.toMatch(/iban|hunter2/);
  });

  it('are bounded in causes, parts and length', () => {
    const loop = new Error('x'.repeat(10_000));
    loop.cause = loop;
    const described = describeError(loop);
    expect(JSON.stringify(described).length).toBeLessThan(100_000);
    expect(described.message.length).toBeLessThan(2_100);
    const many = new AggregateError(
      Array.from({ length: 50 }, () => new Error('part')),
      'all',
    );
    expect(describeError(many).errors).toHaveLength(5);
  });

  it.each([[{ payload: 'hidden' }], [undefined], [5]])('that are not errors, such as %j, say only that', (thrown) => {
    expect(describeError(thrown).message).toBe('something that is not an error was thrown');
  });
});

describe('text', () => {
  it.each([
    ['postgres://u:hidden@h/d', 'postgres://[secret]@h/d'],
    ['amqp://u:hid@den@h', 'amqp://[secret]@h'],
    ['at redis://:hidden@h:1 and kafka://u:hidden@k', 'at redis://[secret]@h:1 and kafka://[secret]@k'],
    [`dsk_0123456789ab_${'h'.repeat(43)}!`, 'dsk_0123456789ab_[secret]!'],
    [`INITIAL_KEY_dsk_0123456789ab_${'h'.repeat(43)}`, 'INITIAL_KEY_dsk_0123456789ab_[secret]'],
    ['Authorization: Bearer eyJh1.eyJz2.abc3', 'Authorization: Bearer [secret]'],
  ])('%s is scrubbed', (before, after) => expect(scrubText(before)).toBe(after));

  it.each(['user@example.org', 'https://example.org/path', 'basic authentication failed', 'dsk_short', ''])(
    '%j stays as it is',
    (before) => expect(scrubText(before)).toBe(before),
  );

  it('is scrubbed in linear time, whatever its shape', () => {
    const hostile = `${'a://'.repeat(50_000)}${'bearer '.repeat(50_000)}${'dsk_'.repeat(50_000)}`;
    expect(scrubText(hostile)).toBe(hostile);
  });
});
