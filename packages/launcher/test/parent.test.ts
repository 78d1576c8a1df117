import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { waitUntil } from '@decision/local-stack';

const SOURCES = ['--require', '@decision/tooling/run-sources', '--conditions=source'];

let directory: string;
let parent: ChildProcess | undefined;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'parent-'));
});
afterEach(() => {
  parent?.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

it('tells a process, once, that the one that started it was killed', async () => {
  const file = join(directory, 'told');
  const goOn = join(directory, 'go-on');
  const child = `
    const { appendFileSync, existsSync } = require('node:fs');
    require(${JSON.stringify(join(__dirname, '../src/parent.ts'))}).onParentEnd(() => appendFileSync(${JSON.stringify(file)}, 'ended'));
    appendFileSync(${JSON.stringify(file)}, 'began ');
    const waiting = setInterval(() => {
      if (!existsSync(${JSON.stringify(goOn)})) return;
      clearInterval(waiting);
      appendFileSync(${JSON.stringify(file)}, ' late');
    }, 50);`;
  const args = JSON.stringify([...SOURCES, '--eval', child]);
  const program = `require('node:child_process').spawn(process.execPath, ${args}, { stdio: 'ignore' }); setInterval(() => {}, 1_000);`;
  parent = spawn(process.execPath, ['--eval', program], { cwd: __dirname, stdio: 'ignore' });
  const told = (): string => {
    try {
      return readFileSync(file, 'utf8');
    } catch {
      return '';
    }
  };
  await waitUntil(() => told() === 'began ', 'it runs');
  await pause(1_500);
  expect(told()).toBe('began ');
  const exited = once(parent, 'exit');
  parent.kill('SIGKILL');
  await exited;
  await waitUntil(() => told() === 'began ended', 'it is told');
  await pause(1_500); // it looks three times
  writeFileSync(goOn, '');
  await waitUntil(() => told() === 'began ended late', 'it goes on');
});
