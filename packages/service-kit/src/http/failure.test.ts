import { type ErrorCode, errorCodes, ServiceError } from '@decision/contracts';
import { createLogger } from '../logging/logger';
import { errorAnswer, FailureLog } from './failure';

describe('the answer to an error', () => {
  const answer = (code: ErrorCode, details: Record<string, unknown> = {}) =>
    errorAnswer(new ServiceError(code, 'A sentence.', details), 'r-1');

  it('carries sentence, code, request id and details under the status of the code', () => {
    const { status, body } = answer('payload_too_large', { limit_bytes: 5 });
    expect(status).toBe(413);
    expect(JSON.parse(body)).toEqual({
      error: 'A sentence.',
      code: 'payload_too_large',
      request_id: 'r-1',
      limit_bytes: 5,
    });
  });

  it('lets no detail replace the common fields of errors', () => {
    const { body } = answer('not_found', { error: 'x', code: 'y', request_id: 'z' });
    expect(JSON.parse(body)).toEqual({ error: 'A sentence.', code: 'not_found', request_id: 'r-1' });
  });

  it('answers without the details if they are not JSON', () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    expect(JSON.parse(answer('not_found', circular).body)).toMatchObject({ code: 'not_found' });
    expect(JSON.parse(answer('not_found', { big: 1n }).body)).toMatchObject({ code: 'not_found' });
  });

  it.each<[string, unknown]>([
    ['a plain error', new TypeError('secret /srv/path')],
    ['an internal error', new ServiceError('internal_error', 'secret', { table: 'secret' })],
    ['text', 'secret'],
    ['nothing', undefined],
  ])('shows no internals for %s', (_what, thrown) => {
    const { status, body } = errorAnswer(thrown, 'r-1');
    expect(status).toBe(500);
    expect(body).not.toContain('secret');
    expect(JSON.parse(body)).toMatchObject({ code: 'internal_error', request_id: 'r-1' });
  });

  it.each<[ErrorCode, Record<string, unknown>, string | undefined]>([
    ['overloaded', {}, '1'],
    ['overloaded', { retry_after_seconds: 2.2 }, '3'],
    ['overloaded', { retry_after_seconds: 0 }, '1'],
    ['overloaded', { retry_after_seconds: -1 }, '1'],
    ['database_unavailable', {}, '1'],
    ['not_found', {}, undefined],
  ])('%s with %j is to be retried after %s', (code, details, seconds) => {
    expect(answer(code, details).headers['retry-after']).toBe(seconds);
  });

  it('sends Allow with 405 and WWW-Authenticate with every 401', () => {
    expect(answer('method_not_allowed', { allow: ['GET', 'HEAD'] }).headers['allow']).toBe('GET, HEAD');
    for (const code of Object.keys(errorCodes) as ErrorCode[]) {
      expect('www-authenticate' in answer(code).headers).toBe(errorCodes[code].status === 401);
    }
  });
});

describe('the log of failures', () => {
  let now: number;
  let lines: Record<string, unknown>[];
  let log: FailureLog;

  beforeEach(() => {
    now = 0;
    lines = [];
    log = new FailureLog(() => now);
  });

  const logger = createLogger({
    service: 's',
    level: 'info',
    destination: { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  });
  const fail = (error: unknown, times = 1): void => {
    for (let time = 0; time < times; time += 1) log.report(() => logger, error);
  };
  const coded = (code: ErrorCode): ServiceError => new ServiceError(code, 'A sentence.');

  it.each<[ErrorCode, string]>([
    ['invalid_json', 'info'],
    ['overloaded', 'info'],
    ['not_ready', 'info'],
    ['shutting_down', 'info'],
    ['database_unavailable', 'error'],
    ['deadline_exceeded', 'error'],
  ])('logs %s at %s', (code, level) => {
    fail(coded(code));
    expect(lines).toEqual([expect.objectContaining({ level, code })]);
  });

  it('logs an unexpected error with its stack', () => {
    fail(new TypeError('odd'));
    expect(lines).toEqual([
      expect.objectContaining({
        level: 'error',
        code: 'internal_error',
        err: expect.objectContaining({
          type: 'TypeError',
          message: 'odd',
          stack: expect.stringContaining('failure.test'),
        }),
      }),
    ]);
  });

  it('logs at most one client error and ten server errors a second, and counts the rest', () => {
    fail(coded('invalid_json'), 5);
    fail(new TypeError('odd'), 13);
    expect(lines.map(({ code }) => code)).toEqual(['invalid_json', ...Array<string>(10).fill('internal_error')]);
    now = 1_000;
    fail(coded('invalid_json'), 2);
    fail(new TypeError('odd'));
    expect(lines.slice(11)).toEqual([
      expect.objectContaining({ code: 'invalid_json', suppressed: 4 }),
      expect.objectContaining({ code: 'internal_error', suppressed: 3 }),
    ]);
  });

  it('omits the count of suppressed lines if there are none', () => {
    fail(coded('invalid_json'));
    now = 1_000;
    fail(coded('invalid_json'));
    expect(lines.every((line) => !('suppressed' in line))).toBe(true);
  });
});
