import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** The service as a process of its own, which a test can kill. */
export interface ObjectsApiProcess {
  readonly baseUrl: string;
  /** Ends it with SIGKILL and waits until it is gone. Idempotent. */
  kill(): Promise<void>;
}

/** Starts the service on a migrated database, without cache and broker, on a free port. */
export const startObjectsApiProcess = async (databaseUrl: string): Promise<ObjectsApiProcess> => {
  const runSources = require.resolve('@decision/tooling/run-sources');
  const main = join(__dirname, '../src/main.ts');
  const child = spawn(process.execPath, ['--conditions=source', '--require', runSources, main], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], DATABASE_URL: databaseUrl, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'info' },
  });
  const gone = once(child, 'exit');
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await gone;
  };
  for await (const line of createInterface({ input: child.stdout })) {
    const { msg, url } = JSON.parse(line) as { msg?: string; url?: string }; // a log line
    if (msg === 'Listening.' && url !== undefined) {
      child.stdout.resume();
      return { baseUrl: url, kill };
    }
  }
  await kill();
  throw new Error('The service ended before it listened.');
};
