import { spawn } from 'node:child_process';
import { resolve } from 'node:path';

/** A process of this package, run from its TypeScript. */
interface Child {
  readonly pid: number;
  /** The first line of its output. */
  readonly firstLine: string;
  stop(): Promise<void>;
}

const HOME = resolve(__dirname, '..');

/** Starts a script, with options of Node, and waits for the first line of its output. */
export const startChild = async (
  script: string,
  args: readonly string[],
  options: readonly string[] = [],
): Promise<Child> => {
  const child = spawn(process.execPath, [...options, '--import', 'tsx', '--conditions=source', script, ...args], {
    cwd: HOME,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  const firstLine = await new Promise<string>((done, fail) => {
    child.stdout.once('data', (chunk: Buffer) => done(chunk.toString('utf8').trim()));
    child.once('exit', (code) => fail(new Error(`${script} ended with ${String(code)} before it was ready`)));
  });
  return {
    pid: child.pid ?? 0, // it has written a line, so it runs
    firstLine,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
};
