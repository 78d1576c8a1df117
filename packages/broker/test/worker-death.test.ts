import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { waitUntil } from '@decision/local-stack';
import { type Broker, createBroker } from '../src';
import { envelope, errorCodeOf, silentLog, startRequester, startResponder, withBroker } from './harness';

jest.setTimeout(180_000);

/** A worker process and its output so far. */
interface MortalWorker {
  readonly said: string[];
  /** Tells it to join its group. */
  join(): void;
  /** Resolves when it is gone. */
  readonly died: Promise<unknown>;
  kill(): Promise<void>;
}

/** All processes that the test has started, to be killed in any case. */
const started: ChildProcess[] = [];

/** Resolves when its process is ready to be told to join. */
const loadMortal = async (
  { settings }: Broker,
  when: 'before' | 'after' | 'of poison' | 'patiently',
): Promise<MortalWorker> => {
  const child: ChildProcess = spawn(
    process.execPath,
    [
      '--conditions=source',
      '--require',
      require.resolve('@decision/tooling/run-sources'),
      join(__dirname, 'mortal-worker.ts'),
      settings.brokers[0] ?? '',
      settings.topicPrefix,
      when,
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const died = once(child, 'exit');
  started.push(child);
  const said: string[] = [];
  child.stdout?.on('data', (chunk: Buffer) => said.push(...chunk.toString().split('\n').filter(Boolean)));
  await waitUntil(() => said.includes('loaded'), 'the worker process is loaded');
  return {
    said,
    join: () => child.stdin?.write('join\n'),
    died,
    kill: async () => {
      child.kill('SIGKILL');
      await died;
    },
  };
};

/** Resolves when it owns partitions. */
const startMortal = async (...given: Parameters<typeof loadMortal>): Promise<MortalWorker> => {
  const worker = await loadMortal(...given);
  worker.join();
  await waitUntil(() => worker.said.includes('ready'), 'the worker owns partitions');
  return worker;
};

/** A client with the instance id of the dead worker: its group does not wait for that worker's session to time out. */
const succeed = (broker: Broker): Broker => {
  const again = createBroker({ ...broker.settings, clientId: 'mortal', instanceId: 'rack-1' }, silentLog);
  broker.adopt({ stop: () => again.close() });
  return again;
};

describe('a worker that is killed', () => {
  let broker: Broker;
  afterEach(() => {
    for (const child of started.splice(0)) child.kill('SIGKILL');
  });
  withBroker('death', (opened) => (broker = opened));

  it('before it has answered: another answers, within the deadline', async () => {
    const requester = await startRequester(broker);
    const mortal = await startMortal(broker, 'before');
    const answers = Array.from({ length: 10 }, (_, index) => requester.request(envelope(), Buffer.from(`q${index}`)));
    await waitUntil(() => mortal.said.includes('handling'), 'it has the requests');
    await mortal.kill();
    await startResponder(broker);
    expect((await Promise.all(answers)).map(String)).toEqual(Array.from({ length: 10 }, (_, index) => `q${index}`));
  });

  it('after it has answered and before it has committed: the second answer is counted and dropped', async () => {
    const requester = await startRequester(broker);
    const mortal = await startMortal(broker, 'after');
    const question = Buffer.alloc(10_000, 'once');
    const answer = await requester.request(envelope(), question);
    await mortal.died;
    expect(answer.equals(question)).toBe(true);
    const successor = await startResponder(succeed(broker));
    await waitUntil(() => successor.count('answered') === 1, 'it is answered again');
    await waitUntil(() => requester.count('reply_unknown') === 1, 'the second answer has been seen');
    expect((await requester.request(envelope(), Buffer.from('next'))).toString()).toBe('next');
  });

  it('dies with the deadline of a request that kills every worker, and the other requests are answered', async () => {
    const requester = await startRequester(broker);
    const [first, second] = await Promise.all([startMortal(broker, 'of poison'), loadMortal(broker, 'of poison')]);
    const poisoned = errorCodeOf(requester.request(envelope(10_000), Buffer.from('poison')));
    await first.died;
    second.join(); // in place of the first, as its supervisor restarts it
    await second.died;
    expect(await poisoned).toBe('deadline_exceeded');
    const survivor = await startResponder(succeed(broker), {
      handle: (_head, payload) => {
        if (payload.toString() === 'poison') throw new RangeError('The poison was taken again.');
        return payload;
      },
    });
    await waitUntil(() => survivor.count('request_expired') === 1, 'it is dropped');
    expect((await requester.request(envelope(), Buffer.from('wholesome'))).toString()).toBe('wholesome');
  });

  it('is removed from the group by its successor, without waiting for its session to time out', async () => {
    const patient = { sessionTimeoutMs: 180_000, heartbeatIntervalMs: 120_000 };
    const survivor = await startResponder(broker, patient);
    const mortal = await startMortal(broker, 'patiently');
    await waitUntil(() => survivor.status().partitions === 8, 'they share');
    await mortal.kill();
    // Without the instance id the group would stand still and wait two minutes for the dead member.
    const successor = await startResponder(succeed(broker), patient);
    await waitUntil(
      () => survivor.status().partitions === 8 && successor.status().partitions === 8,
      'they share again',
    );
    const requester = await startRequester(broker);
    const answers = Array.from({ length: 32 }, () => requester.request(envelope(), Buffer.from('on we go')));
    expect((await Promise.all(answers)).map(String)).toEqual(new Array(32).fill('on we go'));
  });
});
