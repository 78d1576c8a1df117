import { ServiceError } from '@decision/contracts';
import { knex } from 'knex';
import { DatabaseError } from 'pg';
import { breaksConnection, DatabaseFault, refusesValues, translateError } from './translate-error';

const serverError = (code: string, routine?: string): DatabaseError => {
  const error = new DatabaseError('insert into rules … - the sentence of the server', 1, 'error');
  error.code = code;
  error.routine = routine;
  error.detail = 'Failing row contains (secret payload).';
  error.constraint = 'rules_slug_key';
  return error;
};

const systemError = (code: string): Error => Object.assign(new Error(`connect ${code} 10.0.0.1:5432`), { code });

const codeOf = (error: unknown): string | undefined => {
  const translated = translateError(error);
  return translated instanceof ServiceError ? translated.code : undefined;
};

describe('translateError', () => {
  it.each([
    ['08006', 'database_unavailable'],
    ['53300', 'database_unavailable'],
    ['57P01', 'database_unavailable'],
    ['57P03', 'database_unavailable'],
    ['57014', 'database_unavailable'],
    ['55P03', 'database_unavailable'],
    ['25P03', 'database_unavailable'],
    ['25006', 'database_unavailable'],
    ['40001', 'database_unavailable'],
    ['40P01', 'database_unavailable'],
    ['28P01', 'database_unavailable'],
    ['3D000', 'database_unavailable'],
    ['22021', 'invalid_request'],
    ['22P05', 'invalid_request'],
    ['54001', 'invalid_request'],
    ['22P02', 'internal_error'],
    ['23505', 'internal_error'],
    ['42P01', 'internal_error'],
    ['25P02', 'internal_error'],
  ])('gives SQLSTATE %s the code %s', (sqlState, code) => {
    expect(codeOf(serverError(sqlState))).toBe(code);
  });

  it.each(['ExecWithCheckOptions', 'exec_stmt_raise'])('takes a refusal in %s for foreign groups', (routine) => {
    expect(codeOf(serverError('42501', routine))).toBe('forbidden');
  });

  it.each([
    ['SELF_SIGNED_CERT_IN_CHAIN', 'not trusted: name the file of its authority as sslrootcert'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'not trusted'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'for another host'],
    ['CERT_HAS_EXPIRED', 'has expired'],
    ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'check sslcert and sslkey'],
  ])('says of a TLS connection that fails with %s what to change', (code, advice) => {
    expect(translateError(systemError(code))).toMatchObject({
      code: 'database_unavailable',
      message: expect.stringMatching(new RegExp(`\\(${code}\\): its? .*${advice}`)) as string,
    });
  });

  it('treats a database that refuses logins as unavailable', () => {
    expect(codeOf(serverError('55000', 'CheckMyDatabase'))).toBe('database_unavailable');
    expect(codeOf(serverError('55000', 'currval_oid'))).toBe('internal_error');
  });

  it('takes any other lack of privilege for a fault of the service', () => {
    expect(codeOf(serverError('42501', 'aclcheck_error'))).toBe('internal_error');
  });

  it.each(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTFOUND', 'ETIMEDOUT', 'EAI_AGAIN'])(
    'knows the socket error %s',
    (code) => {
      expect(codeOf(systemError(code))).toBe('database_unavailable');
    },
  );

  it.each([
    'Connection terminated unexpectedly',
    'Connection terminated',
    'Connection terminated due to connection timeout',
    'timeout expired',
    'Client has encountered a connection error and is not queryable',
    'select 1 - Client was closed and is not queryable',
    'select a - b from c - Query read timeout',
  ])('knows the driver’s sentence "%s"', (message) => {
    expect(codeOf(new Error(message))).toBe('database_unavailable');
  });

  it('knows an exhausted pool', () => {
    expect(translateError(new knex.KnexTimeoutError('Timeout acquiring a connection'))).toMatchObject({
      code: 'database_unavailable',
      message: expect.stringContaining('busy'),
    });
  });

  it.each([[new TypeError('x is not a function')], [new ServiceError('rule_invalid', 'No.')], ['text'], [undefined]])(
    'leaves alone what is no failure of the database: %p',
    (error) => {
      expect(translateError(error)).toBe(error);
    },
  );

  it('hands out no values, statements or addresses in the message, and no values in the cause', () => {
    for (const error of [serverError('23502'), serverError('22P02'), systemError('ECONNREFUSED')]) {
      const translated = translateError(error) as ServiceError;
      expect(translated.message).not.toMatch(/rules|10\.0\.0\.1|secret|sentence/);
      expect(JSON.stringify({ ...translated, cause: { ...(translated.cause as Error) } })).not.toContain(
        'secret payload',
      );
    }
  });

  it('keeps what an operator needs as the cause', () => {
    const { cause } = translateError(serverError('42P01')) as ServiceError;
    expect(cause).toBeInstanceOf(DatabaseFault);
    expect(cause).toMatchObject({
      sqlState: '42P01',
      constraint: 'rules_slug_key',
      message: expect.stringContaining('sentence'),
    });
    expect((translateError(serverError('22P02')) as ServiceError).cause).toMatchObject({
      message: 'a value was refused (SQLSTATE 22P02)',
    });
    const refused = systemError('ECONNREFUSED');
    expect((translateError(refused) as ServiceError).cause).toBe(refused);
  });
});

describe('breaksConnection', () => {
  it.each<[unknown]>([
    [new Error('select 1 - Query read timeout')],
    [new Error('Connection terminated unexpectedly')],
    [systemError('ECONNRESET')],
    [serverError('57P01')],
    [serverError('25P03')],
  ])('is true for %p', (error) => {
    expect(breaksConnection(error)).toBe(true);
  });

  it.each<[unknown]>([
    [serverError('57014')],
    [serverError('23505')],
    [new TypeError('x is not a function')],
    [new ServiceError('database_unavailable', 'Gone.')],
    ['Query read timeout'],
  ])('is false for %p', (error) => {
    expect(breaksConnection(error)).toBe(false);
  });
});

it.each<[string, unknown, boolean]>([
  ['a faulty value', translateError(serverError('22P02')), true],
  ['a reference to nothing', translateError(serverError('23503')), true],
  ['a missing table', translateError(serverError('42P01')), false],
  ['a lost connection', translateError(systemError('ECONNRESET')), false],
  ['a collision', translateError(serverError('40001')), false],
  ['no failure of the database', new TypeError('x'), false],
])('refusesValues tells %s from what may succeed later', (_name, error, expected) => {
  expect(refusesValues(error)).toBe(expected);
});
