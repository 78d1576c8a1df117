import { createLogger, type Logger } from './logger';

const logged = (write: (logger: ReturnType<typeof createLogger>) => void): string => {
  let text = '';
  write(createLogger({ service: 's', level: 'info', destination: { write: (line: string) => void (text += line) } }));
  return text;
};

it('writes JSON lines with the level as a word and the service', () => {
  expect(JSON.parse(logged((logger) => logger.warn({ size: 1 }, 'Careful.')))).toMatchObject({
    level: 'warn',
    service: 's',
    msg: 'Careful.',
    size: 1,
    time: expect.any(String),
  });
});

it.each(['authorization', 'x-api-key', 'Cookie', 'password', 'client_secret', 'accessToken', 'secretHash'])(
  'hides %s at any depth',
  (name) => {
    const line = logged((logger) => logger.info({ a: { b: [{ [name]: 'hunter2' }] }, [name]: 'hunter2' }, 'x'));
    expect(line).not.toContain('hunter2');
    expect(line).toContain('[secret]');
  },
);

it('hides keys and passwords inside text', () => {
  const key = `dsk_0123456789ab_${'A'.repeat(43)}`;
  const line = logged((logger) => logger.info(`key ${key} at postgres://user:hunter2@host/db`));
  expect(line).not.toContain('A'.repeat(43));
  expect(line).not.toContain('hunter2');
});

it('describes errors with their cause and code', () => {
  const error = Object.assign(new TypeError('outer', { cause: new RangeError('inner') }), { code: 'E1' });
  expect(JSON.parse(logged((logger) => logger.error({ err: error }, 'Failed.')))).toMatchObject({
    err: { message: 'outer', code: 'E1', cause: { message: 'inner' } },
  });
});

it('survives values that cannot be serialised', () => {
  const circular: Record<string, unknown> = { name: 'loop', big: 10n, bytes: Buffer.from('secret bytes') };
  circular['self'] = circular;
  const line = logged((logger) => logger.info(circular, 'x'));
  expect(JSON.parse(line)).toMatchObject({ name: 'loop', big: '10', bytes: '[12 bytes]' });
});

it.each<[string, (logger: Logger, secret: object) => void]>([
  ['a child is bound to', (logger, secret) => logger.child(secret).info('x')],
  ['a child of a child is bound to', (logger, secret) => logger.child({ a: 1 }).child({ deep: secret }).info('x')],
  ['is put into a message', (logger, secret) => logger.info('x %j %o', secret, { deep: secret })],
  ['is put into a message after fields', (logger, secret) => logger.info({ a: 1 }, 'x %o', secret)],
])('hides a secret that %s', (_where, write) => {
  const line = logged((logger) => write(logger, { token: 'hunter2' }));
  expect(line).not.toContain('hunter2');
  expect(line).toContain('[secret]');
});

it('keeps harmless bindings of children, and inherits them', () => {
  const line = logged((logger) =>
    logger.child({ request_id: 'r' }).child({ trace_id: 't' }).info('%s of %d', 'one', 2),
  );
  expect(JSON.parse(line)).toMatchObject({ request_id: 'r', trace_id: 't', msg: 'one of 2' });
});

it('reduces an error that is logged by itself', () => {
  const line = logged((logger) => logger.error(Object.assign(new Error('outer'), { query: 'hunter2' })));
  expect(JSON.parse(line)).toMatchObject({ msg: 'outer', err: { type: 'Error', message: 'outer' } });
  expect(line).not.toContain('hunter2');
});

it('survives a getter that throws', () => {
  const fields = {
    get odd(): string {
      throw new TypeError('no');
    },
    kept: 1,
  };
  expect(JSON.parse(logged((logger) => logger.info(fields, 'x')))).toMatchObject({ odd: '[unreadable]', kept: 1 });
});

it('writes nothing below its level', () => {
  expect(logged((logger) => logger.debug('x'))).toBe('');
});
