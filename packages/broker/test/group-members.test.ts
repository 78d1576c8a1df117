import { createServer, type Socket } from 'node:net';
import { waitUntil } from '@decision/local-stack';
import { type Broker, createBroker } from '../src';
import {
  anotherClient,
  errorCodeOf,
  silentLog,
  startRequester,
  startResponder,
  testBroker,
  withBroker,
} from './harness';

jest.setTimeout(240_000);

describe('counting the members of a group', () => {
  let broker: Broker;
  withBroker('members', (opened) => (broker = opened));

  it('finds none in a group that nobody ever joined, each that has joined, and none that has left', async () => {
    expect(await broker.countMembers('workers')).toBe(0);
    const first = await startResponder(broker);
    expect(await broker.countMembers('workers')).toBe(1);
    const second = await startResponder(anotherClient(broker));
    expect(await broker.countMembers('workers')).toBe(2);
    await startRequester(broker);
    expect(await broker.countMembers('workers')).toBe(2);
    expect(await broker.countMembers('gatewayReplies')).toBe(1);
    await second.stop();
    await waitUntil(async () => (await broker.countMembers('workers')) === 1, 'one has left');
    await first.stop();
    await waitUntil(async () => (await broker.countMembers('workers')) === 0, 'both have left');
  });

  it('counts the group of its own prefix alone', async () => {
    await startResponder(broker);
    const other = testBroker('others');
    broker.adopt({ stop: () => other.close() });
    expect(await other.countMembers('workers')).toBe(0);
  });

  it('fails with broker_unavailable if there is no broker, and if one accepts and never answers', async () => {
    const sockets = new Set<Socket>();
    const mute = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    const address = mute.address();
    if (address === null || typeof address === 'string') throw new Error('The server has no port.');
    const settings = { brokers: [`127.0.0.1:${address.port}`], clientId: 'members', topicPrefix: 'members.' };
    const away = createBroker(settings, silentLog);
    broker.adopt({ stop: () => away.close() });
    try {
      expect(await errorCodeOf(away.countMembers('workers'))).toBe('broker_unavailable');
    } finally {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => mute.close(resolve));
    }
    expect(await errorCodeOf(away.countMembers('workers'))).toBe('broker_unavailable');
  });
});
