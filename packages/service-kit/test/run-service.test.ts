import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const home = join(__dirname, '..');
const tsx = pathToFileURL(createRequire(__filename).resolve('tsx')).href;
let directory: string;
let child: ChildProcess | undefined;

beforeEach(() => {
  directory = mkdtempSync(join(home, '.run-service-'));
});
afterEach(() => {
  child?.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

const SERVICE = `
import { setTimeout as sleep } from 'node:timers/promises';
import { listRules } from '@decision/contracts';
import { bindOperation, createServiceServer, httpSettings, runService, StartRefusal } from '../src/index';
runService({
  name: 'objects-api',
  settings: httpSettings(0),
  start: async ({ config, logger, metrics, stopper }) => {
    if (process.env.REFUSE) throw new StartRefusal('It is a bad day.');
    const server = createServiceServer({
      ...config, name: 'objects-api', version: '1', logger, metrics, health: () => ({}), ready: () => ({ ready: true }),
      authenticator: { authenticate: async () => ({ keyId: 'k', workspaceId: 'w', role: 'r', entitlements: new Set(['rules.read']), userGroups: undefined }) },
      operations: [bindOperation(listRules, async () => { await sleep(Math.random() * 30); return []; })],
    });
    stopper.add('http', (drainMs) => server.stop(drainMs));
    const { url } = await server.listen();
    console.log('URL ' + url);
  },
});
`;

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

const run = (environment: Record<string, string>): { url: Promise<string>; ended: Promise<Ended> } => {
  const script = join(directory, 'service.ts');
  writeFileSync(script, SERVICE);
  const started = spawn(process.execPath, ['--conditions=source', '--import', tsx, script], {
    cwd: home,
    env: { ...process.env, HOST: '127.0.0.1', PORT: '0', ...environment },
  });
  child = started;
  let output = '';
  const url = new Promise<string>((resolve) => {
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      const found = /URL (\S+)/.exec(output);
      if (found?.[1]) resolve(found[1]);
    };
    started.stdout.on('data', read);
    started.stderr.on('data', read);
  });
  const ended = new Promise<Ended>((resolve) => started.once('close', (code) => resolve({ code, output })));
  return { url, ended };
};

it('ends with 78 and every fault where the configuration cannot be used', async () => {
  const { code, output } = await run({ PORT: 'abc', LOG_LEVEL: 'loud', HTTP_BODY_LIMIT_BYTES: '1' }).ended;
  expect(code).toBe(78);
  expect(output).toMatch(/PORT[^]*HTTP_BODY_LIMIT_BYTES/);
  expect(output).toContain('LOG_LEVEL');
});

it('ends with 1 and the sentence where it refuses to start', async () => {
  const { code, output } = await run({ REFUSE: '1' }).ended;
  expect(code).toBe(1);
  expect(output).toContain('It is a bad day.');
});

it('loses no request on SIGTERM under load from kept-alive clients, and ends with 0', async () => {
  const { url, ended } = run({});
  const base = await url;
  const agent = new Agent({ keepAlive: true, maxSockets: 20 });
  let answered = 0;
  const failures: string[] = [];
  let stopped = false;
  const call = (): Promise<void> =>
    new Promise((resolve) => {
      const sent = request(`${base}/api/v1/admin/rules/list`, { agent, headers: { 'x-api-key': 'k' } }, (answer) => {
        answer.resume().once('end', () => {
          if (answer.statusCode === 200) answered += 1;
          else failures.push(`status ${answer.statusCode}`);
          resolve();
        });
      });
      sent.once('error', (error: NodeJS.ErrnoException) => {
        // A refused connection carried no request.
        if (error.code === 'ECONNREFUSED') stopped = true;
        else failures.push(String(error.code));
        resolve();
      });
      sent.end();
    });
  const client = async (): Promise<void> => {
    while (!stopped) await call();
  };
  const clients = Promise.all(Array.from({ length: 20 }, client));
  await new Promise((resolve) => setTimeout(resolve, 500));
  child?.kill('SIGTERM');
  await clients;
  agent.destroy();
  expect(failures).toEqual([]);
  expect(answered).toBeGreaterThan(100);
  expect((await ended).code).toBe(0);
}, 60_000);
