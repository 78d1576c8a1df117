import { KafkaJSNumberOfRetriesExceeded, KafkaJSProtocolError } from 'kafkajs';
import { ServiceError } from '@decision/contracts';
import { brokerError, brokerErrorText, brokerErrorType } from './broker-error';

const refused = new KafkaJSProtocolError({
  name: 'E',
  message: 'The message is too large',
  type: 'MESSAGE_TOO_LARGE',
} as Error);
const wrapped = new KafkaJSNumberOfRetriesExceeded(refused, { retryCount: 3, retryTime: 1 });

describe('errors of the client library', () => {
  it("are named by the broker's own word, through every wrapping", () => {
    expect(brokerErrorType(refused)).toBe('MESSAGE_TOO_LARGE');
    expect(brokerErrorType(wrapped)).toBe('MESSAGE_TOO_LARGE');
    expect(brokerErrorType(new Error('x'))).toBeUndefined();
    expect(brokerErrorType('text')).toBeUndefined();
  });

  it('become one line that says what happened', () => {
    expect(brokerErrorText(wrapped)).toBe('The message is too large (MESSAGE_TOO_LARGE)');
    expect(brokerErrorText(new Error('connect ECONNREFUSED 127.0.0.1:1'))).toBe('connect ECONNREFUSED 127.0.0.1:1');
    expect(brokerErrorText(undefined)).toBe('unknown error');
  });

  it('survive a circle of causes', () => {
    const first = new Error('first');
    first.cause = new Error('second', { cause: first });
    expect(brokerErrorText(first)).toMatch(/first|second/);
  });

  it('become service errors, once', () => {
    const error = brokerError(wrapped);
    expect(error).toBeInstanceOf(ServiceError);
    expect(error.code).toBe('broker_unavailable');
    expect(error.cause).toBe(wrapped);
    expect(brokerError(error)).toBe(error);
  });
});
