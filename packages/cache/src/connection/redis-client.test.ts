import { ErrorReply, SocketClosedUnexpectedlyError } from 'redis';
import { failureName } from './redis-client';

describe('failureName', () => {
  it.each([
    [new ErrorReply('WRONGPASS invalid username-password pair or user "secret"'), 'WRONGPASS'],
    [new ErrorReply('secret words'), 'ERR'],
    [Object.assign(new Error('connect ECONNREFUSED 10.0.0.1'), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
    [new SocketClosedUnexpectedlyError(), 'SocketClosedUnexpectedlyError'],
    ['secret', 'unknown'],
    [undefined, 'unknown'],
  ])('names %p %s', (error, name) => {
    expect(failureName(error)).toBe(name);
  });
});
