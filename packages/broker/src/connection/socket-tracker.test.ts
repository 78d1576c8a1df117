import { createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { certificateRefusal, ClientClosedError, createSocketTracker } from './socket-tracker';

let server: Server;
let port: number;
const accepted: Socket[] = [];

beforeEach(async () => {
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    accepted.push(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as { port: number }).port;
});

afterEach(async () => {
  for (const socket of accepted.splice(0)) socket.destroy();
  server.close();
  await once(server, 'close');
});

const target = (): { host: string; port: number; ssl: never; onConnect: () => void } => ({
  host: '127.0.0.1',
  port,
  ssl: null as never,
  onConnect: () => undefined,
});

describe('createSocketTracker', () => {
  it('tells when the last socket has closed, not before', async () => {
    const tracker = createSocketTracker();
    const first = tracker.open(target());
    const second = tracker.open(target());
    await Promise.all([once(first, 'connect'), once(second, 'connect')]);
    let drained = 0;
    tracker.onDrained(() => (drained += 1));
    first.destroy();
    await once(first, 'close');
    expect([tracker.count(), drained]).toEqual([1, 0]);
    second.destroy();
    await once(second, 'close');
    expect([tracker.count(), drained]).toEqual([0, 1]);
  });

  it('destroys open sockets when closed, with an error the library understands, without logging it', async () => {
    const tracker = createSocketTracker();
    const socket = tracker.open(target());
    await once(socket, 'connect');
    let drained = 0;
    tracker.onDrained(() => (drained += 1));
    const failure = once(socket, 'error');
    tracker.close();
    tracker.close();
    expect((await failure)[0]).toBeInstanceOf(ClientClosedError);
    await once(socket, 'close');
    expect(drained).toBe(0);
  });

  it('opens nothing once it is closed', () => {
    const tracker = createSocketTracker();
    tracker.close();
    expect(() => tracker.open(target())).toThrow(ClientClosedError);
  });
});

describe('certificateRefusal', () => {
  it('names the settings that are missing, or the certificate that is not accepted', () => {
    const code = 'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE';
    expect(certificateRefusal(code, false)).toBe(
      'the broker asks its clients for a certificate: set MQ_SSL_CERT_FILE and MQ_SSL_KEY_FILE',
    );
    expect(certificateRefusal(code, true)).toBe(
      `the broker does not accept the certificate of MQ_SSL_CERT_FILE (${code})`,
    );
  });

  it.each(['CERT_HAS_EXPIRED', 'ECONNRESET', undefined])('ignores %s, which is another alert', (code) => {
    expect(certificateRefusal(code, true)).toBeUndefined();
  });
});
