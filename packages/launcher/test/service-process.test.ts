import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '@decision/local-stack';
import { type ServiceProcess, startServiceProcess } from '../src/fleet/service-process';

let directory: string;
let service: ServiceProcess | undefined;
let lines: string[];
let notices: string[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'service-process-'));
  lines = [];
  notices = [];
});

afterEach(async () => {
  await service?.stop(1_000);
  rmSync(directory, { recursive: true, force: true });
});

const run = (code: string, restartAfterAtMostMs?: number): ServiceProcess => {
  const script = join(directory, 'service.js');
  writeFileSync(script, code);
  service = startServiceProcess({
    name: 'solve-worker',
    script,
    port: 1234,
    environment: { GREETING: 'hello' },
    restartAfterAtMostMs,
    onLine: (_name, line) => lines.push(line),
    onNotice: (sentence) => notices.push(sentence),
  });
  return service;
};

const until = (condition: () => boolean): Promise<void> =>
  waitUntil(condition, () => `it happens. Lines: ${lines.join('; ')} Notices: ${notices.join('; ')}`, 90_000);

it('gives the process its environment and passes on what it prints', async () => {
  run(
    'console.log(process.env.GREETING, process.env.PORT, process.env.HOST); console.error("oops"); setInterval(() => {}, 1000)',
  );
  await until(() => lines.length === 2);
  expect(lines.sort()).toEqual(['hello 1234 127.0.0.1', 'oops']);
});

it('restarts a killed process and reports it', async () => {
  const { pid } = run('console.log(process.pid); setInterval(() => {}, 1000)');
  await until(() => lines.length === 1);
  process.kill(pid() ?? 0, 'SIGKILL');
  await until(() => lines.length === 2);
  expect(notices).toEqual(['solve-worker died (SIGKILL); starting it again in 250 ms.']);
  expect(lines[1]).not.toBe(lines[0]);
});

it('waits longer after each death', async () => {
  run('process.exit(3)');
  await until(() => notices.length === 3);
  expect(notices.map((notice) => /\((.*)\).* (\d+) ms/.exec(notice)?.slice(1))).toEqual([
    ['exit code 3', '250'],
    ['exit code 3', '500'],
    ['exit code 3', '1000'],
  ]);
});

it('waits no longer than the maximum', async () => {
  run('process.exit(3)', 300);
  await until(() => notices.length === 4);
  expect(notices.map((notice) => /(\d+) ms/.exec(notice)?.[1])).toEqual(['250', '300', '300', '300']);
});

it('does not restart a service that refuses its configuration', async () => {
  const { pid } = run('process.exit(78)');
  await until(() => notices.length === 1);
  expect(notices[0]).toContain('refuses its configuration');
  expect(pid()).toBeUndefined();
});

it('kills a process that does not end on SIGTERM, and can be stopped twice', async () => {
  const started = run('process.on("SIGTERM", () => {}); console.log("up"); setInterval(() => {}, 1000)');
  await until(() => lines.length === 1);
  await started.stop(200);
  await started.stop(200);
  expect(started.pid()).toBeUndefined();
  expect(notices).toEqual([]);
});

it('kills a process without asking it first', async () => {
  const started = run(
    'process.on("SIGTERM", () => console.log("asked")); console.log("up"); setInterval(() => {}, 1000)',
  );
  await until(() => lines.length === 1);
  await started.kill();
  await started.kill();
  expect(started.pid()).toBeUndefined();
  expect({ lines, notices }).toEqual({ lines: ['up'], notices: [] });
});
