import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** Runs a TypeScript file of this package as a separate process. */
export const runTypeScript = (file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess =>
  runNode(['--conditions=source', '--require', require.resolve('@decision/tooling/run-sources'), file, ...args], env);

export const runNode = (args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess =>
  spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } });

/** The first line of its standard output. Fails the test if it ends without one. */
export const firstLine = async (child: ChildProcess): Promise<string> => {
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stderr?.resume();
  while (!text.includes('\n') && child.exitCode === null) {
    await Promise.race([once(child, 'exit'), once(child.stdout ?? child, 'data')]);
  }
  return text.slice(0, text.indexOf('\n'));
};
