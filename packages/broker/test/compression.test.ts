import { topicName, type TopicKey } from '@decision/contracts';
import { waitUntil } from '@decision/local-stack';
import type { Broker } from '../src';
import { envelope, silentLog, startRequester, startResponder, withBroker } from './harness';
import { plainClient } from './stored-messages';

jest.setTimeout(180_000);

let broker: Broker;
const warnings: string[] = [];
beforeEach(() => warnings.splice(0));
const warn = (_fields: object, message: string): void => void warnings.push(message);
withBroker('compression', (opened) => (broker = opened), { log: { ...silentLog, warn } });

const nameOf = (topic: TopicKey): string => topicName(broker.settings.topicPrefix, topic);

const setCompression = async (value: string): Promise<void> => {
  const admin = plainClient(broker).admin();
  await admin.connect();
  const resources = [nameOf('solution'), nameOf('solutionResponse')].map((name) => ({
    type: 2,
    name,
    configEntries: [{ name: 'compression.type', value }],
  }));
  await admin.alterConfigs({ validateOnly: false, resources });
  await admin.disconnect();
};

it.each(['zstd', 'lz4', 'gzip', 'uncompressed'])(
  'carries answers through topics whose broker makes every batch %s, and warns with the setting and the way out',
  async (compression) => {
    expect(await broker.checkTopics([{ topic: 'solution' }])).toEqual([]);
    await setCompression(compression);
    const watch = broker.watchTopics([{ topic: 'solution' }]);
    await waitUntil(() => watch.problems() !== undefined, 'the topic has been looked at');
    expect(warnings).toEqual([
      expect.stringContaining(`The topic "${nameOf('solution')}" has compression.type=${compression}`),
    ]);
    const responder = await startResponder(broker);
    const requester = await startRequester(broker);
    // Small ones in one batch, and one large enough to be compressed and inflated off the event loop.
    const payloads = [...Array.from({ length: 20 }, (_, index) => `request ${index}`), 'x{"income":1}'.repeat(30_000)];
    const answers = await Promise.all(payloads.map((text) => requester.request(envelope(), Buffer.from(text))));
    expect(answers.map(String)).toEqual(payloads);
    expect([responder.count('batch_unreadable'), requester.count('batch_unreadable')]).toEqual([0, 0]);
  },
);
