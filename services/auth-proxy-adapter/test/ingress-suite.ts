import { type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, waitUntil } from '@decision/local-stack';
import { type AdapterUnderTest, cookieOf, startAdapter, tokenOf } from './adapter-under-test';

/** Address of an ingress of a test, and the services behind it. */
export interface IngressPlaces {
  /** Its own directory, removed with the test. */
  readonly directory: string;
  readonly port: number;
  readonly adapterUrl: string;
  readonly serviceUrl: string;
}

/** The block of docs/ingress.md that follows a comment of this name. */
export const documented = (name: string, language: string): string => {
  const page = readFileSync(join(__dirname, '../../../docs/ingress.md'), 'utf8');
  const [, text] = new RegExp(`<!-- ${name} -->\\s*\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page) ?? [];
  if (text === undefined) throw new Error(`docs/ingress.md has no block named ${name}.`);
  return text;
};

interface IngressUnderTest {
  readonly name: string;
  readonly isInstalled: boolean;
  /** Starts it with its configuration of docs/ingress.md and the addresses of the test. */
  start(places: IngressPlaces): ChildProcess;
}

/** Requirements of an ingress with its configuration of docs/ingress.md, tested with the real program if it is installed. */
export const describeIngress = ({ name, isInstalled, start }: IngressUnderTest): void => {
  if (!isInstalled)
    process.stderr.write(`${name} is not installed here: its configuration in docs/ingress.md was not run.\n`);
  (isInstalled ? describe : describe.skip)(`${name} with the configuration of docs/ingress.md`, () => suite(start));
};

const suite = (start: IngressUnderTest['start']): void => {
  let adapter: AdapterUnderTest;
  let service: Server;
  let ingress: ChildProcess;
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
    directory = mkdtempSync(join(tmpdir(), 'ingress-'));
    const port = await freePort();
    const serviceUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    ingress = start({ directory, port, adapterUrl: adapter.url, serviceUrl });
    url = `http://127.0.0.1:${port}`;
    await untilItAnswers(`${url}/auth/denied`);
  });

  afterAll(async () => {
    const ended = new Promise((resolve) => ingress.once('exit', resolve));
    ingress.kill('SIGTERM');
    await ended;
    rmSync(directory, { recursive: true, force: true });
    service.closeAllConnections();
    await new Promise((resolve) => service.close(resolve));
    await adapter.stop();
  });

  const bearer = (email: string): Record<string, string> => ({ authorization: `Bearer ${tokenOf({ email })}` });
  const PATH = '/api/v1/admin/rules/list?limit=1';

  it('passes the session to the service and the cookie to the browser, even with an error of the service', async () => {
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

  it('forwards a refusal of the adapter with its status and body', async () => {
    const answer = await fetch(`${url}${PATH}`, { method: 'POST', body: '{}' });
    expect([answer.status, await answer.json()]).toMatchObject([401, { error: 'Missing authentication token' }]);
  });

  it('forwards a redirect to /auth/denied, with the cookie cleared', async () => {
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

  it('routes to the pages of the adapter', async () => {
    expect((await fetch(`${url}/auth/denied`)).status).toBe(200);
    const answer = await fetch(`${url}/dashboard`, { headers: bearer('page@example.com') });
    expect([answer.status, answer.headers.getSetCookie().length]).toEqual([200, 1]);
  });
};

/** Waits until a page answers, at most 10 s. */
const untilItAnswers = (page: string): Promise<void> =>
  waitUntil(
    () =>
      fetch(page).then(
        ({ status }) => status === 200,
        () => false,
      ),
    `${page} answers`,
    10_000,
  );
