import { version } from 'kafkajs/package.json';
import { quietenIdleConnections } from './idle-timer';

/** Internals of the library's queue that a test reads. */
interface Inspected {
  pending: unknown[];
  throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  checkPendingRequests(): void;
  destroy(): void;
}

const createQueue = (): Inspected => {
  const ignore = (): void => undefined;
  const logger = { debug: ignore, warn: ignore };
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- a private module has no types to import
  const Queue = require('kafkajs/src/network/requestQueue') as new (options: object) => Inspected;
  return new Queue({ maxInFlightRequests: null, requestTimeout: 1_000, clientId: 'test', broker: 'test', logger });
};

describe('quietenIdleConnections', () => {
  it('is written for the version that is installed', () => {
    expect(version).toBe('2.2.4');
    expect(quietenIdleConnections()).toBe(true);
    expect(quietenIdleConnections()).toBe(true);
  });

  it('leaves another version alone', () => {
    expect(quietenIdleConnections('2.3.0')).toBe(false);
  });

  it('arms no timer for a queue that holds nothing', () => {
    quietenIdleConnections();
    const queue = createQueue();
    queue.checkPendingRequests();
    expect(queue.throttleCheckTimeoutId).toBeNull();
  });

  it('still arms one for requests that wait out a throttle', () => {
    quietenIdleConnections();
    const queue = createQueue();
    queue.throttledUntil = Date.now() + 60_000;
    queue.pending.push({});
    queue.checkPendingRequests();
    expect(queue.throttleCheckTimeoutId).not.toBeNull();
    queue.destroy();
  });
});
