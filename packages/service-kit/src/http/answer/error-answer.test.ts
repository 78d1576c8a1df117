import { type ErrorCode, errorCodes, ServiceError } from '@decision/contracts';
import { errorAnswer } from './error-answer';

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

it('lets no detail take the place of what every error has', () => {
  const { body } = answer('not_found', { error: 'x', code: 'y', request_id: 'z' });
  expect(JSON.parse(body)).toEqual({ error: 'A sentence.', code: 'not_found', request_id: 'r-1' });
});

it('answers without the details where they are no JSON', () => {
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
])('says nothing of the inside for %s', (_what, thrown) => {
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
