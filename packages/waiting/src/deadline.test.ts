import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { LATE, resultWithin, settledWithin, withDeadline } from './deadline';

const never = new Promise<never>(() => undefined);

describe('resultWithin', () => {
  it('returns the outcome of work that is done in time', async () => {
    await expect(resultWithin(Promise.resolve(7), 1_000)).resolves.toBe(7);
    await expect(resultWithin(Promise.reject(new RangeError('no')), 1_000)).rejects.toThrow(RangeError);
  });

  it('answers LATE for work that is not', async () => {
    await expect(resultWithin(never, 1)).resolves.toBe(LATE);
  });

  it('accepts a reply that was in the socket while the process was busy beyond the deadline', async () => {
    const { here, there, close } = await socketPair();
    const reply = once(here, 'data').then(([data]) => String(data));
    // Starts in the check phase, so that the timer is processed before the socket.
    await new Promise((resolve) => setImmediate(resolve));
    const answer = resultWithin(reply, 1);
    there.write('reply');
    const until = performance.now() + 20;
    while (performance.now() < until);
    await expect(answer).resolves.toBe('reply');
    close();
  });
});

describe('withDeadline', () => {
  const late = (): Error => new RangeError('late');

  it('returns the outcome of work that is done in time', async () => {
    await expect(withDeadline(Promise.resolve(5), 10_000, late)).resolves.toBe(5);
    await expect(withDeadline(Promise.reject(new TypeError('no')), 10_000, late)).rejects.toThrow('no');
  });

  it('gives up on work that is not, and ignores its later failure', async () => {
    let fail: (error: Error) => void = () => undefined;
    const work = new Promise<never>((_resolve, reject) => (fail = reject));
    await expect(withDeadline(work, 5, late)).rejects.toThrow('late');
    fail(new TypeError('too late to matter'));
    await new Promise((resolve) => setImmediate(resolve));
  });
});

describe('settledWithin', () => {
  it('answers whether the work has ended, successfully or not', async () => {
    await expect(settledWithin(Promise.resolve(), 10_000)).resolves.toBe(true);
    await expect(settledWithin(Promise.reject(new Error('no')), 10_000)).resolves.toBe(true);
    await expect(settledWithin(never, 1)).resolves.toBe(false);
  });
});

const socketPair = async (): Promise<{ here: Socket; there: Socket; close: () => void }> => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on TCP has this form of address.
  const here = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [[there]] = (await Promise.all([once(server, 'connection'), once(here, 'connect')])) as [[Socket], unknown];
  const close = (): void => {
    here.destroy();
    there.destroy();
    server.close();
  };
  return { here, there, close };
};
