import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLaunchPeople } from '../src/people/launch-people';
import { type SigningProxy, startSigningProxy } from '../src/people/signing-proxy';

describe('variables about people', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'people-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const open = (environment: NodeJS.ProcessEnv = {}, withProxy = false) =>
    openLaunchPeople({
      file: join(directory, 'people.json'),
      environment,
      withProxy,
      baseUrl: 'http://127.0.0.1:8080',
    });

  it('are generated once and kept in a private file', () => {
    const first = open();
    expect(first.admin).toMatchObject({ email: 'admin@example.com' });
    expect(first.environment['JWT_SECRET']?.length).toBeGreaterThanOrEqual(32);
    expect(open()).toEqual(first);
    expect(statSync(join(directory, 'people.json')).mode & 0o077).toBe(0);
  });

  it('of the environment are passed on', () => {
    const given = {
      JWT_SECRET: 'x'.repeat(32),
      ADMIN_EMAIL: 'boss@example.com',
      EXTERNAL_AUTH_HEADER: 'X-Identity',
      OTHER: 'o',
    };
    const { OTHER: _other, ...handed } = given;
    expect(open(given)).toMatchObject({ environment: handed, admin: { email: 'boss@example.com' } });
    expect(open(given).environment).not.toHaveProperty('OTHER');
  });

  it('are not completed if the environment asks for passthrough, so that missing ones are noticed', () => {
    const given = { EXTERNAL_AUTH_TOKEN_PASSTHROUGH: 'true', ADMIN_EMAIL: 'boss@example.com', BACKEND_URL: '' };
    expect(open(given)).toEqual({
      environment: { EXTERNAL_AUTH_TOKEN_PASSTHROUGH: 'true', ADMIN_EMAIL: 'boss@example.com' },
      admin: undefined,
    });
  });

  it('are complete with the signing proxy', () => {
    const { environment, admin } = open({}, true);
    expect(admin).toBeUndefined();
    expect(environment).toMatchObject({
      EXTERNAL_AUTH_TOKEN_PASSTHROUGH: 'true',
      BACKEND_URL: 'http://127.0.0.1:8080',
    });
    expect(Object.keys(environment)).toEqual(
      expect.arrayContaining(['BACKEND_ANON_KEY', 'BACKEND_SERVICE_KEY', 'ADMIN_EMAIL']),
    );
  });
});

describe('the signing proxy', () => {
  let target: Server;
  let proxy: SigningProxy;
  let seen: IncomingHttpHeaders;

  beforeAll(async () => {
    target = createServer((incoming, outgoing) => {
      seen = incoming.headers;
      let body = '';
      incoming
        .on('data', (chunk: Buffer) => (body += chunk.toString()))
        .once('end', () => outgoing.end(`${incoming.url} ${body}`));
    });
    await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
    const { port } = target.address() as AddressInfo;
    proxy = await startSigningProxy({ port: 0, target: `http://127.0.0.1:${port}`, email: 'admin@example.com' });
  });
  afterAll(async () => {
    await proxy.stop();
    target.closeAllConnections();
    await new Promise((resolve) => target.close(resolve));
  });

  const emailOf = ({ authorization = '' }: IncomingHttpHeaders): unknown =>
    (JSON.parse(Buffer.from(authorization.split('.')[1] ?? '', 'base64url').toString()) as { email?: unknown }).email;

  it("replaces the client's token by its own, and forwards bodies", async () => {
    const headers = { authorization: 'Bearer forged' };
    const answer = await fetch(`${proxy.url}/api/x?y=1`, { method: 'POST', body: 'hello', headers });
    expect(await answer.text()).toBe('/api/x?y=1 hello');
    expect(emailOf(seen)).toBe('admin@example.com');
  });

  it('lets people choose an identity, and refuses an invalid address', async () => {
    const chosen = await fetch(`${proxy.url}/as/ada@example.com`, { redirect: 'manual' });
    const [cookie = ''] = chosen.headers.getSetCookie()[0]?.split(';') ?? [];
    expect([chosen.status, chosen.headers.get('location')]).toEqual([303, '/dashboard']);
    await fetch(`${proxy.url}/`, { headers: { cookie } });
    expect(emailOf(seen)).toBe('ada@example.com');
    expect((await fetch(`${proxy.url}/as/%0d%0aset-cookie:x`, { redirect: 'manual' })).status).toBe(400);
  });

  it('leaves programs with a key alone', async () => {
    await fetch(`${proxy.url}/`, { headers: { 'x-api-key': 'k' } });
    expect(seen).not.toHaveProperty('authorization');
  });
});
