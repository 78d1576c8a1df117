import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { exchange } from './exchange';
import { freePort } from './free-port';

describe('exchange', () => {
  let server: Server;
  const sockets = new Set<Socket>();

  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    server?.close();
  });

  const serve = async (answer: (socket: Socket) => void): Promise<number> => {
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      answer(socket);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port; // A server that listens on TCP has such an address.
  };
  const ask = (port: number, length: number): Promise<Buffer | undefined> =>
    exchange(port, Buffer.from('?'), (bytes) => bytes.length >= length);

  it('joins an answer that comes in pieces', async () => {
    const port = await serve((socket) => {
      socket.once('data', (question) => {
        socket.write(question);
        setTimeout(() => socket.write('!'), 20);
      });
    });
    expect(String(await ask(port, 2))).toBe('?!');
  });

  it('has no answer if nothing listens', async () => {
    expect(await ask(await freePort(), 1)).toBeUndefined();
  });

  it('has no answer if the connection ends early', async () => {
    expect(await ask(await serve((socket) => socket.end('x')), 2)).toBeUndefined();
  });

  it('has no answer from a server that stays silent', async () => {
    expect(await ask(await serve(() => undefined), 1)).toBeUndefined();
  });

  it('has no answer from a server that answers endlessly', async () => {
    const port = await serve((socket) => {
      socket.write(Buffer.alloc(100_000));
    });
    expect(await ask(port, 1_000_000)).toBeUndefined();
  });
});
