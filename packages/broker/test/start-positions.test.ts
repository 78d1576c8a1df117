import { consumerGroupName, topicName, topics } from '@decision/contracts';
import { waitUntil } from '@decision/local-stack';
import type { Broker } from '../src';
import { anotherClient, envelope, startRequester, startResponder, withBroker } from './harness';
import { plainClient } from './stored-messages';

jest.setTimeout(240_000);

type Admin = ReturnType<ReturnType<typeof plainClient>['admin']>;
type Offsets = ReadonlyMap<number, number>;

const PARTITIONS = topics.solution.localPartitions;

describe('committed offsets of a group of responders', () => {
  let broker: Broker;
  let admin: Admin;
  withBroker('starts', (opened) => (broker = opened));
  beforeEach(async () => {
    admin = plainClient(broker).admin();
    await admin.connect();
  });
  afterEach(() => admin.disconnect());

  const solution = (): string => topicName(broker.settings.topicPrefix, 'solution');

  /** Partitions without a committed offset are left out. */
  const committed = async (): Promise<Offsets> => {
    const groupId = consumerGroupName(broker.settings.topicPrefix, 'workers');
    const [found] = await admin.fetchOffsets({ groupId, topics: [solution()] });
    const known = (found?.partitions ?? []).map(({ partition, offset }) => [partition, Number(offset)] as const);
    return new Map(known.filter(([, offset]) => offset >= 0));
  };

  const boundaries = async (): Promise<{ oldest: Offsets; end: Offsets }> => {
    const found = await admin.fetchTopicOffsets(solution());
    return {
      oldest: new Map(found.map(({ partition, low }) => [partition, Number(low)])),
      end: new Map(found.map(({ partition, high }) => [partition, Number(high)])),
    };
  };

  const untilAllCommitted = (): Promise<void> =>
    waitUntil(async () => (await committed()).size === PARTITIONS, 'every partition has a committed offset');

  /** Watches the committed offsets until stopped; resolves to those that went back or vanished. */
  const watchOffsets = (): { stop(): Promise<string[]> } => {
    let going = true;
    const faults: string[] = [];
    const look = async (): Promise<void> => {
      let before = await committed();
      while (going) {
        const now = await committed();
        for (const [partition, offset] of before)
          if ((now.get(partition) ?? -1) < offset) faults.push(`${partition}: ${offset} to ${now.get(partition)}`);
        before = now;
      }
    };
    const looking = look();
    return {
      stop: async () => {
        going = false;
        await looking;
        return faults;
      },
    };
  };

  it('exist for every partition of an empty topic as soon as a member has joined', async () => {
    await startResponder(broker);
    await untilAllCommitted();
    const [{ end }, offsets] = [await boundaries(), await committed()];
    for (const [partition, offset] of offsets) expect(offset).toBeLessThanOrEqual(end.get(partition) ?? -1);
  });

  it('begin at the oldest message that is kept, so that nothing older than the group is lost', async () => {
    const requester = await startRequester(broker);
    const asked = Array.from({ length: 40 }, (_, index) =>
      requester.request(envelope(), Buffer.from(`early ${index}`)),
    );
    await waitUntil(async () => {
      const { end } = await boundaries();
      return [...end.values()].reduce((sum, offset) => sum + offset, 0) >= 40;
    }, 'the requests are stored');
    let answering = false;
    const worker = await startResponder(broker, {
      handle: async (_envelope, payload) => {
        await waitUntil(() => answering, 'the test lets it answer');
        return payload;
      },
    });
    await untilAllCommitted();
    expect(await committed()).toEqual((await boundaries()).oldest);
    answering = true;
    expect((await Promise.all(asked)).map(String).sort()).toEqual(
      Array.from({ length: 40 }, (_, index) => `early ${index}`).sort(),
    );
    await worker.stop();
  });

  it('are those of the oldest message where retention has removed some', async () => {
    const requester = await startRequester(broker);
    const lost = Array.from({ length: 40 }, () => requester.request(envelope(2_000), Buffer.from('old')));
    await Promise.allSettled(lost);
    const partitions = [...(await boundaries()).end].map(([partition, offset]) => ({
      partition,
      offset: String(offset),
    }));
    await admin.deleteTopicRecords({ topic: solution(), partitions });
    await startResponder(broker);
    await untilAllCommitted();
    const { oldest } = await boundaries();
    expect([...oldest.values()].some((offset) => offset > 0)).toBe(true);
    for (const [partition, offset] of await committed())
      expect(offset).toBeGreaterThanOrEqual(oldest.get(partition) ?? 0);
  });

  it('never go back, and no request is lost, while members come, take over and leave', async () => {
    const first = await startResponder(broker);
    await untilAllCommitted();
    const watch = watchOffsets();
    const requester = await startRequester(broker);
    const answers: Promise<Buffer>[] = [];
    const ask = async (name: string): Promise<void> => {
      for (let index = 0; index < 60; index += 1) {
        answers.push(requester.request(envelope(), Buffer.from(`${name} ${index}`)));
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    await ask('alone');
    const second = await startResponder(anotherClient(broker));
    await waitUntil(() => first.status().partitions === PARTITIONS / 2, 'the partitions are shared');
    await ask('shared');
    await first.stop();
    await waitUntil(() => second.status().partitions === PARTITIONS, 'the second has all');
    await ask('taken over');
    expect(new Set((await Promise.all(answers)).map(String)).size).toBe(180);
    await waitUntil(async () => {
      const [offsets, { end }] = [await committed(), await boundaries()];
      return [...end].every(([partition, offset]) => offsets.get(partition) === offset);
    }, 'nothing is left to commit');
    expect(await watch.stop()).toEqual([]);
  });

  it('stay before a request that a member leaves unfinished, and the next member answers it', async () => {
    const stuck = await startResponder(broker, { handle: () => new Promise<never>(() => undefined) });
    await untilAllCommitted();
    const requester = await startRequester(broker);
    const before = await boundaries();
    const answer = requester.request(envelope(), Buffer.from('once more'));
    await waitUntil(() => stuck.status().queued === 1, 'it is being handled');
    await stuck.stop({ drainMs: 0 });
    const offsets = await committed();
    expect([...offsets.values()].reduce((a, b) => a + b)).toBeLessThanOrEqual(
      [...before.end.values()].reduce((a, b) => a + b),
    );
    await startResponder(anotherClient(broker));
    expect(String(await answer)).toBe('once more');
  });
});
