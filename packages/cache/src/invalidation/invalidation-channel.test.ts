import type { CacheInvalidation } from '@decision/contracts';
import { createLogRecorder } from '../../test/log-recorder';
import type { CacheEvent } from '../cache-event';
import { createChannel } from './invalidation-channel';

const MESSAGE: CacheInvalidation = {
  v: 1,
  kind: 'rule',
  workspace_id: '3f0b8f4e-6f5c-4f0e-9a53-2f1f3c9b7a10',
  keys: ['a'],
};

const setup = (isUp = true) => {
  const sent: string[] = [];
  const events: CacheEvent[] = [];
  const log = createLogRecorder();
  const channel = createChannel({
    send: (text) => {
      sent.push(text);
      return Promise.resolve(isUp);
    },
    record: (event) => events.push(event),
    log,
  });
  const heard: CacheInvalidation[] = [];
  channel.subscribe((message) => heard.push(message));
  return { channel, sent, events, log, heard };
};

describe('the invalidation channel', () => {
  it('sends a message as JSON and counts it', async () => {
    const { channel, sent, events } = setup();
    await expect(channel.publish(MESSAGE)).resolves.toBe(true);
    expect(sent.map((text) => JSON.parse(text))).toEqual([MESSAGE]);
    expect(events).toEqual([{ type: 'invalidation', direction: 'sent', kind: 'rule' }]);
  });

  it('reports a message that the cache did not accept', async () => {
    const { channel, events } = setup(false);
    await expect(channel.publish(MESSAGE)).resolves.toBe(false);
    expect(events).toEqual([]);
  });

  it('does not send a message that every process would reject', async () => {
    const { channel, sent, log } = setup();
    await expect(channel.publish({ ...MESSAGE, keys: ['secret'.repeat(200)] })).resolves.toBe(false);
    expect(sent).toEqual([]);
    expect(log.lines).toEqual([
      expect.objectContaining({ level: 'error', fields: expect.objectContaining({ path: '/keys/0' }) }),
    ]);
    expect(log.text()).not.toContain('secret');
  });

  it('hands a valid message to its listeners', () => {
    const { channel, heard, events } = setup();
    channel.receive(JSON.stringify(MESSAGE));
    expect(heard).toEqual([MESSAGE]);
    expect(events).toEqual([{ type: 'invalidation', direction: 'received', kind: 'rule' }]);
  });

  it.each([
    '',
    'null',
    '[]',
    '{',
    '{"v":1}',
    JSON.stringify({ ...MESSAGE, v: 2 }),
    JSON.stringify({ ...MESSAGE, kind: 'planet' }),
    JSON.stringify({ ...MESSAGE, workspace_id: 'one' }),
    JSON.stringify({ ...MESSAGE, keys: 'a' }),
    JSON.stringify({ ...MESSAGE, keys: [''] }),
    JSON.stringify({ ...MESSAGE, more: 1 }),
    JSON.stringify(MESSAGE).replace('{', '{"__proto__":{"keys":["a"]},'),
  ])('counts and ignores %s', (text) => {
    const { channel, heard, events } = setup();
    channel.receive(text);
    expect(heard).toEqual([]);
    expect(events).toEqual([{ type: 'invalidation_rejected' }]);
  });

  it('isolates a failing listener from the others', () => {
    const { channel, events, log } = setup();
    const heard: string[] = [];
    channel.subscribe(() => {
      throw new RangeError('broken listener');
    });
    channel.subscribe((message) => heard.push(message.kind));
    channel.receive(JSON.stringify(MESSAGE));
    expect(heard).toEqual(['rule']);
    expect(events).toContainEqual({ type: 'listener_failed' });
    expect(log.lines.map(({ level }) => level)).toEqual(['error']);
  });

  it('no longer calls a listener that unsubscribed, and keeps its duplicate', () => {
    const { channel } = setup();
    let calls = 0;
    const listener = (): number => (calls += 1);
    const leave = channel.subscribe(listener);
    channel.subscribe(listener);
    leave();
    leave();
    channel.deliver(MESSAGE);
    expect(calls).toBe(1);
  });

  it('delivers in this process without sending', () => {
    const { channel, sent, heard, events } = setup();
    channel.deliver(MESSAGE);
    expect({ sent, heard, events }).toEqual({ sent: [], heard: [MESSAGE], events: [] });
  });

  it('reports each time that it is ready again', () => {
    const { channel } = setup();
    let times = 0;
    const leave = channel.onReconnect(() => (times += 1));
    channel.reconnected();
    channel.reconnected();
    leave();
    channel.reconnected();
    expect(times).toBe(2);
  });
});
