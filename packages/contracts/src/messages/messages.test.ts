import { randomUUID } from 'node:crypto';
import { ServiceError } from '../service-error';
import { checkCacheInvalidation } from './cache-invalidation.v1';
import { chunkInputs, joinResults } from './solution-chunk.v1';
import { EnvelopeError, type ReceivedHeaders } from './headers';
import { decodeSolutionRequest, encodeSolutionRequest, type SolutionRequestEnvelope } from './solution-request.v1';
import {
  decodeSolutionFailure,
  decodeSolutionResponse,
  encodeSolutionFailure,
  encodeSolutionResponse,
} from './solution-response.v1';

const request: SolutionRequestEnvelope = {
  correlationId: 'c-1',
  requester: 'gateway-1',
  replyPartition: 3,
  deadline: 1_800_000_000_000,
  kind: 'solve',
  workspaceId: randomUUID(),
  versionId: randomUUID(),
  asset: 'rule',
  receivedAt: 1_799_999_940_000,
  explain: 'none',
  requestId: 'r-1',
  idempotencyKey: undefined,
  traceparent: undefined,
};

/** Headers as received from a broker client. */
const received = (headers: Readonly<Record<string, string>>): ReceivedHeaders =>
  Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)]));

describe('the solution message', () => {
  it.each([
    request,
    { ...request, explain: 'brief' as const, traceparent: '00-ab-cd-01' },
    { ...request, explain: 'all' as const },
    { ...request, explain: 'all' as const, audience: 'unrestricted' as const },
    { ...request, explain: 'brief' as const, audience: [] },
    { ...request, explain: 'brief' as const, audience: ['nörth, "east"', '*'] },
    { ...request, asset: 'flow' as const },
    { ...request, asset: 'flow' as const, idempotencyKey: 'örder-7' },
    { ...request, kind: 'solve-list' as const },
    { ...request, kind: 'solve-lines' as const },
    { ...request, origin: { keyId: 'k', slug: 'préis', selector: 'latest', firstIndex: 7 } },
  ])('comes back as it was sent', (envelope) => {
    expect(decodeSolutionRequest(received(encodeSolutionRequest(envelope)))).toEqual(envelope);
  });

  it('carries an idempotency key for flows alone', () => {
    expect(encodeSolutionRequest({ ...request, idempotencyKey: 'order-7' })).not.toHaveProperty('idempotency-key');
  });

  it('is about a rule if it names no asset, as from a process of the release before flows', () => {
    const { asset: _none, ...older } = request;
    const headers = encodeSolutionRequest(older);
    expect(headers).not.toHaveProperty('asset');
    expect(decodeSolutionRequest(received(headers)).asset).toBe('rule');
  });

  it.each([
    'correlation-id',
    'requester',
    'reply-partition',
    'deadline',
    'kind',
    'workspace-id',
    'version-id',
    'received-at',
    'request-id',
  ])('is refused without %s', (name) => {
    const { [name]: _gone, ...rest } = encodeSolutionRequest(request);
    expect(() => decodeSolutionRequest(received(rest))).toThrow(new RegExp(name));
  });

  it.each([
    ['kind', 'dance'],
    ['asset', 'table'],
    ['idempotency-key', ''],
    ['idempotency-key', 'x'.repeat(256)],
    ['reply-partition', '-1'],
    ['deadline', 'soon'],
    ['explain', 'loudly'],
    ['audience', 'north'],
    ['audience', '[1]'],
    ['audience', '"*"'],
  ])('is refused when %s is "%s"', (name, value) => {
    expect(() => decodeSolutionRequest(received({ ...encodeSolutionRequest(request), [name]: value }))).toThrow(
      EnvelopeError,
    );
  });
});

describe('the solution-response message', () => {
  it.each([undefined, 'input_not_object' as const])('comes back as it was sent (%s)', (errorCode) => {
    const envelope = { correlationId: 'c-1', requester: 'gateway-1', worker: 'w-1', errorCode, workedMs: 12.345 };
    expect(decodeSolutionResponse(received(encodeSolutionResponse(envelope)))).toEqual(envelope);
  });

  it('says what the worker measured to the microsecond, and nothing if it measured nothing or wrote no number', () => {
    const envelope = { correlationId: 'c', requester: 'g', worker: 'w', errorCode: undefined };
    const measured = (workedMs: number | undefined) => encodeSolutionResponse({ ...envelope, workedMs });
    expect(measured(1.23456)).toMatchObject({ 'worked-us': '1235' });
    expect(measured(undefined)).not.toHaveProperty('worked-us');
    const read = (text: string) =>
      decodeSolutionResponse(received({ 'correlation-id': 'c', requester: 'g', 'worked-us': text })).workedMs;
    expect(['0', '1235', '-1', '1.5', 'soon', ''].map(read)).toEqual([0, 1.235, ...Array<undefined>(4)]);
  });

  it('turns a code that is not in the catalogue into an internal error', () => {
    const headers = received({ 'correlation-id': 'c', requester: 'g', 'error-code': 'toString' });
    expect(decodeSolutionResponse(headers).errorCode).toBe('internal_error');
  });

  it('carries sentence and details of a failure', () => {
    const error = new ServiceError('input_not_object', 'The input is a list.', { came: 'list' });
    expect(decodeSolutionFailure('input_not_object', encodeSolutionFailure(error))).toMatchObject({
      code: 'input_not_object',
      message: 'The input is a list.',
      details: { came: 'list' },
    });
  });

  it.each(['', 'not json', '{}', '[]', 'null'])('turns an unreadable failure %j into an internal error', (text) => {
    expect(decodeSolutionFailure('input_not_object', Buffer.from(text)).code).toBe('internal_error');
  });
});

describe('the invalidation message', () => {
  const message = { v: 1, kind: 'rule', workspace_id: randomUUID(), keys: ['rule:w:s'] };

  it('is accepted as it is specified', () => {
    expect(checkCacheInvalidation(message).ok).toBe(true);
  });

  it.each([
    { ...message, v: 2 },
    { ...message, kind: 'moon' },
    { ...message, keys: [''] },
    { ...message, extra: 1 },
    null,
    'x',
  ])('is refused as %j', (damaged) => {
    expect(checkCacheInvalidation(damaged).ok).toBe(false);
  });
});

describe('a chunk of inputs', () => {
  it.each([
    [[], []],
    [['{}'], ['{}']],
    [
      ['{"a":1}', ' {"a": "é"} '],
      ['{"a":1}', ' {"a": "é"} '],
    ],
  ])('is one input a line: %j', (inputs, read) => {
    expect([...chunkInputs(Buffer.from(inputs.join('\n')))].map(String)).toEqual(read);
  });

  it('joins results as the kind asks', () => {
    expect(joinResults('solve-list', ['{}', '{"a":1}']).toString()).toBe('{},\n{"a":1}');
    expect(joinResults('solve-lines', ['{}', '{"a":1}']).toString()).toBe('{}\n{"a":1}');
  });
});
