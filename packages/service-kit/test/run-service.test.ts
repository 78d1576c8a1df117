import { type ChildProcess, spawn } from 'node:child_process';
import { Agent, request } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const runSources = createRequire(__filename).resolve('@decision/tooling/run-sources');
const script = join(__dirname, 'tiny-service.ts');
let child: ChildProcess | undefined;

afterEach(() => void child?.kill('SIGKILL'));

interface Ended {
  readonly code: number | null;
  /** Both streams. */
  readonly output: string;
  /** Standard error alone. */
  readonly errors: string;
}

interface Run {
  /** Resolves to the first match in the process's output; rejects if it ends without one. */
  readonly printed: (pattern: RegExp) => Promise<RegExpExecArray>;
  readonly ended: Promise<Ended>;
}

const run = (environment: Record<string, string>): Run => {
  const started = spawn(process.execPath, ['--conditions=source', '--require', runSources, script], {
    env: { ...process.env, HOST: '127.0.0.1', PORT: '0', SHUTDOWN_GRACE_MS: '0', ...environment },
  });
  child = started;
  let output = '';
  let errors = '';
  const ended = new Promise<Ended>((resolve) => started.once('close', (code) => resolve({ code, output, errors })));
  started.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  for (const stream of [started.stdout, started.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  const printed = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = pattern.exec(output);
        if (found) resolve(found);
      };
      look();
      started.stdout.on('data', look);
      started.stderr.on('data', look);
      void ended.then(() => reject(new Error(`It ended without printing ${String(pattern)}: ${output}`)));
    });
  return { printed, ended };
};

const urlOf = async ({ printed }: Run): Promise<string> => (await printed(/URL (\S+)/))[1] ?? '';

/** One request for the list; answers its status, or the error code. */
const list = (base: string, agent?: Agent): Promise<number | string> =>
  new Promise((resolve) => {
    const call = request(`${base}/api/v1/admin/rules/list`, { agent, headers: { 'x-api-key': 'k' } }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
      answer.once('error', (error: NodeJS.ErrnoException) => resolve(String(error.code)));
    });
    call.once('error', (error: NodeJS.ErrnoException) => resolve(String(error.code)));
    call.end();
  });

it('exits with 78 and every fault if the configuration is invalid', async () => {
  const { code, errors } = await run({ PORT: 'abc', LOG_LEVEL: 'loud', HTTP_BODY_LIMIT_BYTES: '1' }).ended;
  expect(code).toBe(78);
  expect(errors).toMatch(/^The configuration has 3 faults:\n/);
  for (const name of ['LOG_LEVEL', 'PORT', 'HTTP_BODY_LIMIT_BYTES']) expect(errors).toContain(`\n  - ${name}=`);
});

it('exits with 1 and the sentence, but no stack, if it refuses to start', async () => {
  const { code, output } = await run({ REFUSE: '1' }).ended;
  expect(code).toBe(1);
  expect(output).toContain('It is a bad day.');
  expect(output).not.toContain('tiny-service.ts');
});

it('exits with 1 and a sentence that names PORT if the port is in use', async () => {
  const first = run({});
  const { port } = new URL(await urlOf(first));
  const holder = child;
  try {
    const { code, output } = await run({ PORT: port }).ended;
    expect(code).toBe(1);
    expect(output).toContain(`Port ${port} on 127.0.0.1 is in use; set PORT to another one.`);
    expect(output).not.toContain('"stack"');
  } finally {
    holder?.kill('SIGKILL');
    await first.ended;
  }
});

it('exits with 0 and no fatal line if it is stopped while it starts', async () => {
  const process = run({ NEVER_STARTS: '1' });
  await process.printed(/STARTING/);
  child?.kill('SIGTERM');
  const { code, output } = await process.ended;
  expect(code).toBe(0);
  expect(output).toContain('The start was cut short.');
  expect(output).not.toMatch(/"level":"(?:fatal|error)"/);
});

it('exits with 1 and the stack after an unhandled rejection', async () => {
  const { code, output } = await run({ THROW: '1' }).ended;
  expect(code).toBe(1);
  expect(output).toMatch(/"level":"fatal".*Nobody catches this/);
});

it('exits with 1 if something hangs while it stops', async () => {
  const process = run({ HANG: '1', SHUTDOWN_DRAIN_MS: '0' });
  await urlOf(process);
  child?.kill('SIGTERM');
  const { code, output } = await process.ended;
  expect(code).toBe(1);
  expect(output).toContain('Stopping took too long');
});

it('finishes requests in flight, however many signals come', async () => {
  const process = run({ WORK_MS: '1000' });
  const answered = list(await urlOf(process));
  await process.printed(/WORKING/);
  child?.kill('SIGTERM');
  await process.printed(/"msg":"Stopping\."/);
  child?.kill('SIGTERM');
  child?.kill('SIGINT');
  expect(await answered).toBe(200);
  expect((await process.ended).code).toBe(0);
});

it('loses no request on SIGTERM under load from kept-alive clients, and exits with 0', async () => {
  const process = run({});
  const base = await urlOf(process);
  const agent = new Agent({ keepAlive: true, maxSockets: 20 });
  const outcomes = new Map<number | string, number>();
  let refused = false;
  const client = async (): Promise<void> => {
    while (!refused) {
      const outcome = await list(base, agent);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      // A refused connection carried no request.
      if (outcome === 'ECONNREFUSED') refused = true;
    }
  };
  const clients = Promise.all(Array.from({ length: 20 }, client));
  while ((outcomes.get(200) ?? 0) <= 100 && !refused) await new Promise((resolve) => setTimeout(resolve, 10));
  child?.kill('SIGTERM');
  await clients;
  agent.destroy();
  expect([...outcomes.keys()].sort()).toEqual([200, 'ECONNREFUSED']);
  expect(outcomes.get(200)).toBeGreaterThan(100);
  expect((await process.ended).code).toBe(0);
}, 180_000);
