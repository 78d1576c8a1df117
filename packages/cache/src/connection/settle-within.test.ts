import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { LATE, settleWithin } from './settle-within';

describe('settleWithin', () => {
  it('hands on what is done in time', async () => {
    await expect(settleWithin(Promise.resolve(7), 1_000)).resolves.toBe(7);
    await expect(settleWithin(Promise.reject(new RangeError('no')), 1_000)).rejects.toThrow(RangeError);
  });

  it('answers LATE when it is not', async () => {
    await expect(settleWithin(new Promise(() => undefined), 1)).resolves.toBe(LATE);
  });

  it('takes a reply that lay in the socket while the process was busy past the deadline', async () => {
    const { here, there, close } = await socketPair();
    const reply = once(here, 'data').then(([data]) => String(data));
    // Begins in the check phase: the timer is looked at before the socket.
    await new Promise((resolve) => setImmediate(resolve));
    const answer = settleWithin(reply, 1);
    there.write('reply');
    const until = performance.now() + 20;
    while (performance.now() < until);
    await expect(answer).resolves.toBe('reply');
    close();
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
