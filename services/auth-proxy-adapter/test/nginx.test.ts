import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@decision/local-stack';
import { type AdapterUnderTest, cookieOf, startAdapter, tokenOf } from './adapter-under-test';

const isInstalled = spawnSync('nginx', ['-v']).status === 0;
const whereInstalled = isInstalled ? describe : describe.skip;
if (!isInstalled)
  process.stderr.write('nginx is not installed here: its configuration in docs/ingress.md was not run.\n');

/** The configuration of docs/ingress.md, with the addresses of this test. */
const configuration = (directory: string, port: number, adapterUrl: string, serviceUrl: string): string => {
  const page = readFileSync(join(__dirname, '../../../docs/ingress.md'), 'utf8');
  const [, text = ''] = /<!-- nginx -->\s*```nginx\n([\s\S]*?)```/.exec(page) ?? [];
  const placed = text
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
    .replace('auth-proxy-adapter:3006', new URL(adapterUrl).host)
    .replace(/(objects-api|hps-gateway|contexts-api|log-collector):\d+/g, new URL(serviceUrl).host);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return [
    `daemon off; master_process off; pid ${directory}/nginx.pid; error_log ${directory}/error.log;`,
    'events { worker_connections 64; }',
    `http { access_log off; ${temporary.map((name) => `${name}_temp_path ${directory}/${name};`).join(' ')}`,
    `${placed}}`,
  ].join('\n');
};

whereInstalled('nginx with the configuration of docs/ingress.md', () => {
  let adapter: AdapterUnderTest;
  let service: Server;
  let nginx: ChildProcess;
  let directory: string;
  let url: string;

  beforeAll(async () => {
    adapter = await startAdapter();
    service = createServer((incoming, outgoing) => {
      incoming.resume().once('end', () => {
        outgoing.statusCode = Number(incoming.headers['x-want-status'] ?? 200);
        outgoing.end(JSON.stringify({ headers: incoming.headers, url: incoming.url }));
      });
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    directory = mkdtempSync(join(tmpdir(), 'nginx-'));
    const port = await freePort();
    const serviceUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    writeFileSync(join(directory, 'nginx.conf'), configuration(directory, port, adapter.url, serviceUrl));
    nginx = spawn('nginx', ['-c', join(directory, 'nginx.conf'), '-p', directory], { stdio: 'ignore' });
    url = `http://127.0.0.1:${port}`;
    const until = Date.now() + 10_000;
    while (
      Date.now() < until &&
      !(await fetch(`${url}/nowhere`).then(
        () => true,
        () => false,
      ))
    )
      await new Promise((resolve) => setTimeout(resolve, 50));
  });

  afterAll(async () => {
    const ended = new Promise((resolve) => nginx.once('exit', resolve));
    nginx.kill('SIGTERM');
    await ended;
    rmSync(directory, { recursive: true, force: true });
    service.closeAllConnections();
    await new Promise((resolve) => service.close(resolve));
    await adapter.stop();
  });

  const bearer = (email: string): Record<string, string> => ({ authorization: `Bearer ${tokenOf({ email })}` });
  const PATH = '/api/v1/admin/rules/list?limit=1';

  it('hands the session to the service and the cookie to the browser, also beside an error of the service', async () => {
    for (const status of [200, 404, 401]) {
      const headers = {
        ...bearer(`first-${status}@example.com`),
        'x-decision-session': 'forged',
        'x-want-status': String(status),
      };
      const answer = await fetch(`${url}${PATH}`, { headers });
      const { headers: seen, url: path } = (await answer.json()) as { headers: Record<string, string>; url: string };
      expect([answer.status, path]).toEqual([status, PATH]);
      expect(cookieOf(answer)).toBe(`decision_session=${seen['x-decision-session']}`);
      expect(seen['x-decision-session']).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    }
  });

  it('sets no cookie for a person who has one, and passes bodies through', async () => {
    const first = await fetch(`${url}${PATH}`, { headers: bearer('second@example.com') });
    const cookie = cookieOf(first) ?? '';
    const answer = await fetch(`${url}${PATH}`, {
      method: 'POST',
      body: '{}',
      headers: { ...bearer('second@example.com'), cookie },
    });
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([200, []]);
  });

  it('hands a refusal of the adapter on with its status and body', async () => {
    const answer = await fetch(`${url}${PATH}`, { method: 'POST', body: '{}' });
    expect([answer.status, await answer.json()]).toMatchObject([401, { error: 'Missing authentication token' }]);
  });

  it('hands a redirect to /auth/denied on, with the cookie cleared', async () => {
    adapter.mapping = () => Promise.resolve({ denied: 'no.', selectors: [], changed: false });
    const headers = { ...bearer('denied@example.com'), accept: 'text/html' };
    const answer = await fetch(`${url}${PATH}`, { headers, redirect: 'manual' });
    adapter.mapping = () => Promise.resolve({ selectors: [], changed: false });
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/auth/denied']);
    expect(answer.headers.getSetCookie()[0]).toContain('Max-Age=0');
  });

  it('does not ask about programs and probes, and removes a session that they claim', async () => {
    for (const [path, headers] of [
      [PATH, { 'x-api-key': 'k', 'x-decision-session': 'forged' }],
      ['/api/health', { 'x-decision-session': 'forged' }],
    ] as const) {
      const answer = await fetch(`${url}${path}`, { headers });
      expect(answer.status).toBe(200);
      expect(((await answer.json()) as { headers: object }).headers).not.toHaveProperty('x-decision-session');
    }
  });

  it('leads to the pages of the adapter', async () => {
    expect((await fetch(`${url}/auth/denied`)).status).toBe(200);
    const answer = await fetch(`${url}/dashboard`, { headers: bearer('page@example.com') });
    expect([answer.status, answer.headers.getSetCookie().length]).toEqual([200, 1]);
  });
});
