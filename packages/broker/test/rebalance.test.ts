import { encodeSolutionRequest, topicName } from '@decision/contracts';
import { waitUntil } from '@decision/local-stack';
import type { Broker } from '../src';
import {
  anotherClient,
  envelope,
  PATIENCE_MS,
  startRequester,
  startResponder,
  type TestRequester,
  withBroker,
} from './harness';
import { plainClient } from './stored-messages';

jest.setTimeout(240_000);

/** Requests sent continuously until stopped. */
interface Asking {
  /** Resolves when twenty more have been answered. */
  goesOn(): Promise<void>;
  /** Rejects unless every answer equalled its request. */
  stop(): Promise<void>;
}

const keepAsking = (requester: TestRequester, name: string): Asking => {
  let going = true;
  let asked = 0;
  let answered = 0;
  const loop = async (lane: number): Promise<void> => {
    while (going) {
      const question = `${name} ${lane} ${(asked += 1)}`;
      const answer = await requester.request(envelope(), Buffer.from(question));
      if (answer.toString() !== question) throw new Error(`"${question}" was answered "${answer.toString()}".`);
      answered += 1;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const lanes = Promise.all([0, 1, 2, 3].map(loop));
  lanes.catch(() => undefined); // reported by stop
  return {
    goesOn: async () => {
      const before = answered;
      await Promise.race([lanes, waitUntil(() => answered >= before + 20, `${name} is answered`)]);
    },
    stop: async () => {
      going = false;
      await lanes;
    },
  };
};

describe('a group of requesters', () => {
  let broker: Broker;
  withBroker('rebalance', (opened) => (broker = opened));

  it('is ready only when nothing is missed any more: ten fresh ones get their first answers', async () => {
    await startResponder(broker);
    for (let round = 0; round < 10; round += 1) {
      const requester = await startRequester(broker);
      const answers = Array.from({ length: 8 }, () => requester.request(envelope(), Buffer.from('first')));
      expect((await Promise.all(answers)).map(String)).toEqual(new Array(8).fill('first'));
      await requester.stop();
    }
  });

  it('loses no request while it grows to three and shrinks again', async () => {
    await startResponder(broker);
    const first = await startRequester(broker);
    const firstAsks = keepAsking(first, 'first');
    const second = await startRequester(anotherClient(broker));
    const secondAsks = keepAsking(second, 'second');
    const third = await startRequester(anotherClient(broker));
    const thirdAsks = keepAsking(third, 'third');
    await waitUntil(() => {
      const shares = [first, second, third].map((requester) => requester.status().partitions);
      return Math.min(...shares) >= 5 && shares.reduce((a, b) => a + b) === 16;
    }, 'the partitions are shared');
    await Promise.all([firstAsks, secondAsks, thirdAsks].map((asks) => asks.goesOn()));
    await thirdAsks.stop();
    await third.stop();
    await Promise.all([firstAsks, secondAsks].map((asks) => asks.goesOn()));
    await secondAsks.stop();
    await second.stop();
    await waitUntil(() => first.status().partitions === 16, 'the first has all partitions');
    await firstAsks.goesOn();
    await firstAsks.stop();
    expect(first.count('request_expired')).toBe(0);
  });

  it('keeps the partitions of those that stay', async () => {
    const requesters = [await startRequester(broker), await startRequester(anotherClient(broker))];
    const [first, second] = requesters;
    await waitUntil(() => requesters.every((one) => one.status().partitions === 8), 'both have eight');
    const eventsBefore = [first?.events.length ?? 0, second?.events.length ?? 0];
    const third = await startRequester(anotherClient(broker));
    await waitUntil(() => third.status().partitions === 5, 'three share');
    await waitUntil(() => requesters.every((one) => one.status().partitions <= 6), 'the others have given some up');
    await third.stop();
    await waitUntil(() => requesters.every((one) => one.status().partitions === 8), 'both have eight again');
    requesters.forEach((one, index) => {
      const rebalances = one.events.slice(eventsBefore[index]).flatMap((e) => (e.type === 'rebalanced' ? [e] : []));
      const lost = rebalances.reduce((sum, { lost: count }) => sum + count, 0);
      const gained = rebalances.reduce((sum, { gained: count }) => sum + count, 0);
      // Eight become five or six and eight again; a non-sticky assignment moves most of them both times.
      expect(lost).toBeLessThanOrEqual(3);
      expect(gained).toBe(lost);
    });
  });

  it('hurries: with heartbeats a minute apart a newcomer is ready long before the next one', async () => {
    const slow = { sessionTimeoutMs: 180_000, heartbeatIntervalMs: 120_000 };
    const first = await startRequester(broker, slow);
    const begun = Date.now();
    const second = await startRequester(anotherClient(broker), slow);
    expect(Date.now() - begun).toBeLessThan(60_000);
    await second.stop();
    await waitUntil(() => first.status().partitions === 16, 'the first has all partitions again');
    expect(Date.now() - begun).toBeLessThan(110_000);
  });

  it('sends a request again when the partition of its answer moves away', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await startResponder(broker, {
      partitionConcurrency: 64,
      handle: async (_head, payload) => {
        await held;
        return payload;
      },
    });
    const first = await startRequester(broker);
    const texts = Array.from({ length: 40 }, (_, index) => `held ${index}`);
    const answers = texts.map((text) => first.request(envelope(), Buffer.from(text)));
    // Enough newcomers to take some of the four partitions on which answers are awaited.
    const newcomers = await Promise.all(Array.from({ length: 7 }, () => startRequester(anotherClient(broker))));
    await waitUntil(() => first.count('requests_resent') > 0, 'requests were sent again');
    release();
    expect((await Promise.all(answers)).map(String)).toEqual(texts);
    const moved = (): number => newcomers.reduce((sum, one) => sum + one.count('reply_moved'), 0);
    await waitUntil(() => moved() > 0, 'the answers on partitions that moved are counted');
  });
});

describe('a group of responders', () => {
  let broker: Broker;
  withBroker('workers', (opened) => (broker = opened));

  it('answers every request while members come and go', async () => {
    const requester = await startRequester(broker);
    const steady = await startResponder(broker);
    const asks = keepAsking(requester, 'question');
    for (let round = 0; round < 3; round += 1) {
      const passing = await startResponder(anotherClient(broker));
      await waitUntil(() => passing.status().partitions === 8 && passing.count('answered') > 0, 'the work is shared');
      await passing.stop();
      expect(passing.status().queued).toBe(0);
    }
    await waitUntil(() => steady.status().partitions === 16, 'the steady one has all partitions');
    await asks.goesOn();
    await asks.stop();
    expect(requester.count('request_expired')).toBe(0);
  });

  /** Uncommitted requests on the topic. */
  const unfinishedOf = async (admin: ReturnType<ReturnType<typeof plainClient>['admin']>): Promise<number> => {
    const [solution] = await admin.fetchOffsets({ groupId: `${broker.settings.topicPrefix}generic-workers` });
    const ends = await admin.fetchTopicOffsets(topicName(broker.settings.topicPrefix, 'solution'));
    return ends.reduce((sum, { partition, high }) => {
      const committed = solution?.partitions.find((one) => one.partition === partition)?.offset ?? '-1';
      return sum + Number(high) - Math.max(0, Number(committed));
    }, 0);
  };

  it('commits what is finished, and nothing beyond it', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const handle = async (_head: unknown, payload: Buffer): Promise<Buffer> => {
      if (payload.toString() === 'hold') await held;
      return payload;
    };
    const requester = await startRequester(broker);
    const responder = await startResponder(broker, { handle });
    const ask = (text: string): Promise<Buffer> => requester.request(envelope(), Buffer.from(text));
    await Promise.all(Array.from({ length: 64 }, () => ask('quick')));
    const holding = ask('hold');
    await waitUntil(() => responder.status().queued === 1, 'it is being handled');
    const admin = plainClient(broker).admin();
    await admin.connect();
    const unfinished = () => unfinishedOf(admin);
    await waitUntil(async () => (await unfinished()) === 1, 'all but the held one are committed');
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(await unfinished()).toBe(1);
    release();
    await holding;
    await responder.stop();
    expect(await unfinished()).toBe(0);
    await admin.disconnect();
  });

  it('commits a request that is answered once what was begun beside the answer is done', async () => {
    let release: () => void = () => undefined;
    const recorded = new Promise<void>((resolve) => (release = resolve));
    let asked = 0;
    const beforeCommit = () => {
      asked += 1;
      return asked > 16 ? recorded : undefined;
    };
    const requester = await startRequester(broker);
    const responder = await startResponder(broker, { beforeCommit });
    const ask = (): Promise<Buffer> => requester.request(envelope(), Buffer.from('question'));
    await Promise.all(Array.from({ length: 16 }, ask));
    const admin = plainClient(broker).admin();
    await admin.connect();
    const unfinished = () => unfinishedOf(admin);
    await waitUntil(async () => (await unfinished()) === 0, 'those with nothing beside them are committed');
    await Promise.all(Array.from({ length: 8 }, ask));
    await waitUntil(() => responder.status().queued === 0, 'nothing waits for its answer');
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(await unfinished()).toBe(8);
    release();
    await waitUntil(async () => (await unfinished()) === 0, 'the others are committed too');
    await responder.stop();
    await admin.disconnect();
  });

  it('takes no more than it has room for, stays in its group meanwhile, and catches up', async () => {
    const requester = await startRequester(broker);
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const sessionTimeoutMs = 6_000;
    const responder = await startResponder(broker, {
      maxQueued: 20,
      sessionTimeoutMs,
      handle: async (_head, payload) => {
        await held;
        return payload;
      },
    });
    const answers = Array.from({ length: 300 }, (_, index) =>
      requester.request(envelope(), Buffer.from(String(index))),
    );
    await waitUntil(() => responder.status().queued === 20, 'it is full');
    const missedAt = Date.now() + sessionTimeoutMs + 500;
    await waitUntil(() => responder.status().lastHeartbeatAt > missedAt, 'it has lived longer than without heartbeats');
    expect(await broker.countMembers('workers')).toBe(1);
    expect(responder.count('consumer_lost')).toBe(0);
    expect(responder.status()).toMatchObject({ queued: 20, ready: true, partitions: 16 });
    release();
    expect((await Promise.all(answers)).map(Number)).toEqual(Array.from({ length: 300 }, (_, index) => index));
  });

  it('drops requests for which nobody waits any more', async () => {
    const requester = await startRequester(broker);
    const asked = { requester: 'somebody', correlationId: 'long ago', replyPartition: 0 };
    const headers = encodeSolutionRequest({ ...envelope(-1), ...asked });
    const message = { topic: 'solution', partition: undefined, headers, value: Buffer.from('?') } as const;
    const producer = broker.createProducer();
    await producer.connect();
    await Promise.all(
      Array.from({ length: 5 }, () => producer.send({ ...message, deadline: Date.now() + PATIENCE_MS })),
    );
    const handled: string[] = [];
    const responder = await startResponder(broker, {
      handle: (_head, payload) => {
        handled.push(payload.toString());
        return payload;
      },
    });
    expect((await requester.request(envelope(), Buffer.from('current'))).toString()).toBe('current');
    await waitUntil(() => responder.count('request_expired') === 5, 'the old ones were seen');
    expect(handled).toEqual(['current']);
  });
});
