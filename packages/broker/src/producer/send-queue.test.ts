import { type QueuedMessage, SendQueue } from './send-queue';

const item = (name: string, bytes = 10, alone = false): QueuedMessage => ({
  message: { topic: 'solution', partition: 0, headers: { name }, value: Buffer.alloc(0), deadline: 0 },
  bytes,
  settled: undefined,
  failures: 0,
  outages: 0,
  alone,
});

const names = (items: readonly QueuedMessage[]): string => items.map(({ message }) => message.headers['name']).join('');

const queueOf = (...items: readonly QueuedMessage[]): SendQueue => {
  const queue = new SendQueue();
  for (const one of items) queue.push(one);
  return queue;
};

const LIMITS = { messages: 3, bytes: 100 };

describe('SendQueue', () => {
  it('gives batches of at most so many messages, in order', () => {
    const queue = queueOf(item('a'), item('b'), item('c'), item('d'));
    expect(names(queue.take(LIMITS))).toBe('abc');
    expect([queue.length, queue.bytes]).toEqual([1, 10]);
    expect(names(queue.take(LIMITS))).toBe('d');
    expect(queue.take(LIMITS)).toEqual([]);
    expect([queue.length, queue.bytes]).toEqual([0, 0]);
  });

  it('gives batches of at most so many bytes, but always a message', () => {
    const queue = queueOf(item('a', 60), item('b', 40), item('c', 1), item('d', 5_000), item('e', 1));
    expect(names(queue.take(LIMITS))).toBe('ab');
    expect(names(queue.take(LIMITS))).toBe('c');
    expect(names(queue.take(LIMITS))).toBe('d');
    expect(names(queue.take(LIMITS))).toBe('e');
  });

  it('gives a suspect alone', () => {
    const queue = queueOf(item('a'), item('b', 10, true), item('c'));
    expect(names(queue.take(LIMITS))).toBe('a');
    expect(names(queue.take(LIMITS))).toBe('b');
    expect(names(queue.take(LIMITS))).toBe('c');
  });

  it('puts messages back in front', () => {
    const queue = queueOf(item('a'), item('b'), item('c'), item('d'));
    const batch = queue.take(LIMITS);
    queue.putBack(batch);
    expect([queue.length, queue.bytes]).toEqual([4, 40]);
    expect(names(queue.take({ messages: 9, bytes: 900 }))).toBe('abcd');
  });

  it('removes what is picked, and keeps the order of the rest', () => {
    const queue = queueOf(item('a'), item('b', 20), item('c'), item('d', 20));
    queue.take({ messages: 1, bytes: 10 });
    expect(names(queue.remove(({ bytes }) => bytes === 20))).toBe('bd');
    expect([queue.length, queue.bytes, names(queue.take(LIMITS))]).toEqual([1, 10, 'c']);
    expect(queue.remove(() => true)).toEqual([]);
  });

  it('keeps its counts over many messages', () => {
    const queue = new SendQueue();
    let taken = 0;
    for (let round = 0; round < 5_000; round += 1) {
      queue.push(item('x'));
      queue.push(item('y'));
      if (round % 2 === 0) taken += queue.take(LIMITS).length;
    }
    expect([queue.length, queue.bytes]).toEqual([10_000 - taken, (10_000 - taken) * 10]);
    while (queue.length > 0) taken += queue.take(LIMITS).length;
    expect(taken).toBe(10_000);
  });
});
