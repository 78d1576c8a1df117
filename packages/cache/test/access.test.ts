import { closeAll, open, openUp, untilUp } from './opened-cache';
import { type OwnServer, startOwnServer } from './own-server';
import { connectRaw, type RawClient } from './raw-client';
import { makeSelfSigned, startTcpProxy, type TcpProxy, waitUntil } from '@decision/local-stack';

const SECRET = 's3cret/@:?#';
const ENCODED = encodeURIComponent(SECRET);

let server: OwnServer;
let raw: RawClient;
let hostPort: string;

beforeAll(async () => {
  server = await startOwnServer();
  hostPort = new URL(server.url).host;
  raw = await connectRaw(server.url);
  // Each test sets whether the server has a password.
  await raw.sendCommand(['CONFIG', 'SET', 'requirepass', '']);
});
afterEach(closeAll);
afterAll(async () => {
  raw.destroy();
  await server.stop();
});

const reasons = (log: { lines: readonly { fields: object }[] }): unknown[] =>
  log.lines.flatMap(({ fields }) => ('reason' in fields ? [fields.reason] : []));

describe('a server with a password', () => {
  beforeEach(() => raw.sendCommand(['CONFIG', 'SET', 'requirepass', SECRET]));
  afterEach(() => raw.sendCommand(['CONFIG', 'SET', 'requirepass', '']));

  it('accepts the password in the URL, in any database', async () => {
    const { cache, log } = await openUp({ url: `redis://:${ENCODED}@${hostPort}/3` });
    await cache.shared.set('k', 'a');
    await expect(cache.shared.get('k')).resolves.toBe('a');
    expect(log.text()).not.toContain('s3cret');
  });

  it.each([
    ['a wrong password', (): string => `redis://:wrong${ENCODED}@${hostPort}`, 'WRONGPASS'],
    ['no password', (): string => `redis://${hostPort}`, 'NOAUTH'],
  ])('refuses %s, with an error that omits it', async (_what, url, reason) => {
    const { cache, log } = open({ url: url() });
    await waitUntil(() => reasons(log).length === 2, 'both connections were refused');
    expect(reasons(log)).toEqual([reason, reason]);
    expect(cache.status()).toMatchObject({ connected: false, channel: { ready: false } });
    await expect(cache.shared.get('k')).resolves.toBeUndefined();
    expect(log.text()).not.toContain('s3cret');
  });
});

describe('a plain cache endpoint', () => {
  it('needs no commands but GET, SET, DEL, PUBLISH and SUBSCRIBE', async () => {
    const rights = ['on', `>${SECRET}`, 'resetkeys', '~p:*', 'resetchannels', '&service:cache:invalidate', '-@all'];
    await raw.sendCommand(['ACL', 'SETUSER', 'plain', ...rights, '+get', '+set', '+del', '+publish', '+subscribe']);
    const url = `redis://plain:${ENCODED}@${hostPort}`;
    const { cache, events } = await openUp({ url, keyPrefix: 'p:', heartbeatMs: 400 });
    const heard: unknown[] = [];
    cache.invalidations.subscribe((message) => heard.push(message));
    await cache.shared.set('k', 'a', { ttlMs: 60_000 });
    await expect(cache.shared.get('k')).resolves.toBe('a');
    await cache.shared.delete(['k']);
    const workspace_id = '3f0b8f4e-6f5c-4f0e-9a53-2f1f3c9b7a10';
    await expect(cache.invalidations.publish({ v: 1, kind: 'rule', workspace_id, keys: ['k'] })).resolves.toBe(true);
    await waitUntil(() => heard.length > 0, 'the message has come');
    // The subscriber's heartbeat is PING, which this user may not send: the refusal counts as an answer too.
    const refused = async (): Promise<boolean> =>
      /cmdstat_ping:.*rejected_calls=([3-9]|\d\d)/.test(await raw.info('commandstats'));
    await waitUntil(refused, 'several heartbeats were refused');
    expect(cache.status()).toMatchObject({ connected: true, channel: { ready: true } });
    expect(events.filter((event) => event.type === 'connection' && event.state === 'disconnected')).toEqual([]);
  });

  it('does not count as connected if reading is forbidden', async () => {
    await raw.sendCommand(['ACL', 'SETUSER', 'blind', 'on', `>${SECRET}`, '~*', '-@all', '+set']);
    const { cache, log } = open({ url: `redis://blind:${ENCODED}@${hostPort}` });
    await waitUntil(() => reasons(log).length === 2, 'both connections were refused');
    expect(reasons(log)).toEqual(['NOPERM', 'NOPERM']);
    expect(cache.status().connected).toBe(false);
  });
});

describe('TLS', () => {
  const certificate = makeSelfSigned('localhost');
  let proxy: TcpProxy;

  beforeEach(async () => {
    proxy = await startTcpProxy(server.url, { tls: { cert: certificate.cert, key: certificate.key } });
  });
  afterEach(async () => {
    await closeAll();
    await proxy.close();
  });

  it('names the host, so that an endpoint behind a shared address can choose its certificate', async () => {
    const names: string[] = [];
    const SNICallback = (name: string, done: (error: Error | null) => void): void => {
      names.push(name);
      done(null);
    };
    const shared = await startTcpProxy(server.url, {
      tls: { cert: certificate.cert, key: certificate.key, SNICallback },
    });
    await openUp({ url: `rediss://localhost:${shared.port}`, tlsCa: certificate.cert });
    expect(names).toEqual(['localhost', 'localhost']);
    await closeAll();
    await shared.close();
  });

  it('is reached by rediss://', async () => {
    const opened = open({ url: `rediss://localhost:${proxy.port}`, tlsCa: certificate.cert });
    await untilUp(opened);
    await opened.cache.shared.set('k', 'a');
    await expect(opened.cache.shared.get('k')).resolves.toBe('a');
  });

  it.each([
    ['an unknown certificate', 'localhost', undefined, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ["another host's certificate", '127.0.0.1', certificate.cert, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['an authority that is no PEM', 'localhost', 'not a certificate', expect.any(String)],
  ])('refuses %s', async (_what, host, tlsCa, reason) => {
    const { cache, log } = open({ url: `rediss://${host}:${proxy.port}`, tlsCa });
    await waitUntil(() => reasons(log).length === 2, 'both connections were refused');
    expect(cache.status().connected).toBe(false);
    expect(reasons(log)).toEqual([reason, reason]);
  });

  it('is shown the certificate of this client, and refuses a client without one', async () => {
    const own = makeSelfSigned('gateway');
    const asking = await startTcpProxy(server.url, {
      tls: {
        ...{ cert: certificate.cert, key: certificate.key },
        ...{ requestCert: true, rejectUnauthorized: true, ca: own.cert },
      },
    });
    const url = `rediss://localhost:${asking.port}`;
    const { cache } = await openUp({ url, tlsCa: certificate.cert, tlsCert: own.cert, tlsKey: own.key });
    await cache.shared.set('k', 'a');
    await expect(cache.shared.get('k')).resolves.toBe('a');
    const stranger = makeSelfSigned('gateway');
    for (const shown of [{}, { tlsCert: stranger.cert, tlsKey: stranger.key }]) {
      const refused = open({ url, tlsCa: certificate.cert, ...shown });
      await waitUntil(() => reasons(refused.log).length >= 2, 'both connections were refused');
      expect(refused.cache.status().connected).toBe(false);
    }
    await closeAll();
    await asking.close();
  });

  it('is not reached by redis://', async () => {
    const { cache, log } = open({ url: `redis://localhost:${proxy.port}` });
    await waitUntil(() => reasons(log).length === 2, 'both connections failed');
    expect(cache.status().connected).toBe(false);
  });
});
