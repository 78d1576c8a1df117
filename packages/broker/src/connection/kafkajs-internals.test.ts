import { CompressionTypes } from 'kafkajs';
import manifest from 'kafkajs/package.json';
import { uncompressSync } from 'snappy';
import { createBroker } from '../broker';
import { changeLibrary } from './kafkajs-internals';

interface Requests {
  protocol(how: { version: number }): (request: object) => {
    request: { apiName: string; encode(): Promise<{ buffer: Buffer }> };
    response: { decode(bytes: Buffer): Promise<unknown>; parse(data: unknown): Promise<unknown> };
  };
}

/** Internals of the library's queue that a test reads. */
interface Inspected {
  pending: unknown[];
  throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  checkPendingRequests(): void;
  destroy(): void;
}

/* eslint-disable @typescript-eslint/no-require-imports -- private modules have no types to import */
const fetches = require('kafkajs/src/protocol/requests/fetch') as Requests;
const produces = require('kafkajs/src/protocol/requests/produce') as Requests;
const Queue = require('kafkajs/src/network/requestQueue') as new (options: object) => Inspected;
/* eslint-enable @typescript-eslint/no-require-imports */
const libraryFetch10 = fetches.protocol({ version: 10 })({}).response;

const ignore = (): void => undefined;
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };

describe('the version of the client library', () => {
  const { version } = manifest;
  afterEach(() => {
    manifest.version = version;
  });

  it('is the one that is installed', () => {
    expect(version).toBe('2.2.4');
    expect(changeLibrary).not.toThrow();
  });

  it.each(['2.2.3', '2.3.0', '3.0.0'])('refuses to open a broker with %s, and says how to continue', (other) => {
    manifest.version = other;
    expect(() => createBroker({ brokers: ['a:1'], clientId: 'me', topicPrefix: '' }, log)).toThrow(
      `The Kafka client kafkajs ${other} is installed, and this service relies on internals of kafkajs 2.2.4 only. ` +
        `Install kafkajs 2.2.4, as the lock file says, or adapt packages/broker/src/connection/kafkajs-internals.ts to ${other}.`,
    );
  });
});

describe('changes of the client library', () => {
  beforeEach(changeLibrary);

  it('are made once', () => {
    const before = [fetches.protocol, produces.protocol];
    changeLibrary();

    expect([fetches.protocol, produces.protocol]).toEqual(before);
  });

  describe('to idle connections', () => {
    const createQueue = (): Inspected => {
      return new Queue({
        maxInFlightRequests: null,
        requestTimeout: 1_000,
        clientId: 'test',
        broker: 'test',
        logger: log,
      });
    };

    it('arms no timer for a queue that holds nothing', () => {
      const queue = createQueue();
      queue.checkPendingRequests();
      expect(queue.throttleCheckTimeoutId).toBeNull();
    });

    it('still arms one for requests that wait out a throttle', () => {
      const queue = createQueue();
      queue.throttledUntil = Date.now() + 60_000;
      queue.pending.push({});
      queue.checkPendingRequests();
      expect(queue.throttleCheckTimeoutId).not.toBeNull();
      queue.destroy();
    });
  });

  describe('to fetches', () => {
    const request = {
      maxWaitTime: 1,
      minBytes: 1,
      maxBytes: 1,
      topics: [{ topic: 't', partitions: [{ partition: 0, fetchOffset: '3', maxBytes: 9 }] }],
    };

    /** Head of an answer with one topic "t". */
    const HEAD = '00000000' + '0000' + '00000000' + '00000001' + '0001' + '74';
    /** A partition by number, error code and message bytes, in hexadecimal. */
    const partition = (number: number, errorCode: number, messages: string): string =>
      [
        number.toString(16).padStart(8, '0'),
        errorCode.toString(16).padStart(4, '0'),
        '0'.repeat(48),
        'ffffffff',
        'ffffffff',
        (messages.length / 2).toString(16).padStart(8, '0'),
        messages,
      ].join('');
    const answer = (...partitions: readonly string[]): Buffer =>
      Buffer.from(HEAD + partitions.length.toString(16).padStart(8, '0') + partitions.join(''), 'hex');

    it('writes fetches and leaves out empty partitions', async () => {
      const { request: made, response } = fetches.protocol({ version: 11 })(request);
      expect(made.apiName).toBe('Fetch');
      expect((await made.encode()).buffer.length).toBe(4 * 4 + 1 + 4 * 4 + 3 + 4 + 28 + 2);
      const decoded = await response.decode(answer(partition(0, 0, ''), partition(1, 0, '')));
      expect(decoded).toMatchObject({ responses: [{ topicName: 't', partitions: [] }] });
      expect(fetches.protocol({ version: 10 })(request).response).toBe(libraryFetch10);
    });

    it('shows errors of partitions to the library, which throws them', async () => {
      const { response } = fetches.protocol({ version: 11 })(request);
      const decoded = await response.decode(answer(partition(0, 0, ''), partition(5, 1, '')));
      await expect(response.parse(decoded)).rejects.toMatchObject({ type: 'OFFSET_OUT_OF_RANGE', partition: 5 });
    });

    it('leaves records of older formats to the library', async () => {
      const { response } = fetches.protocol({ version: 11 })(request);
      // Offset, size, checksum, format 1, attributes, time, an empty key and a value of twenty bytes.
      const head =
        '0000000000000007' + '0000002a' + '00000000' + '01' + '00' + '0000000000000001' + '00000000' + '00000014';
      const decoded = await response.decode(answer(partition(0, 0, head + '76'.repeat(20))));
      expect(decoded).toMatchObject({ responses: [{ partitions: [{ messages: [{ offset: '7' }] }] }] });
    });
  });

  describe('to produce requests', () => {
    const request = (more: object = {}, message: object = {}): object => ({
      acks: -1,
      timeout: 30_000,
      producerId: '7',
      producerEpoch: 1,
      compression: CompressionTypes.Snappy,
      topicData: [
        {
          topic: 't',
          partitions: [
            { partition: 3, firstSequence: 5, messages: [{ value: 'quick quick quick', headers: {}, ...message }] },
          ],
        },
      ],
      ...more,
    });

    const HEAD_OF_REQUEST = 2 + 2 + 4 + 4 + 3 + 4 + 4 + 4;
    const HEAD_OF_BATCH = 61;

    it('writes Snappy records that read as they should, whatever the version of the request', async () => {
      for (const version of [3, 5, 7]) {
        const { buffer } = await produces.protocol({ version })(request()).request.encode();
        const records = uncompressSync(buffer.subarray(HEAD_OF_REQUEST + HEAD_OF_BATCH), { asBuffer: true });
        expect(records.toString('latin1')).toBe('\x2e\0\0\0\x01\x22quick quick quick\0');
      }
    });

    it.each([
      ['gzip', request({ compression: CompressionTypes.GZIP })],
      ['a timestamp', request({ compression: CompressionTypes.None }, { timestamp: '1763000000000' })],
    ])('leaves %s to the library, which can', async (_name, one) => {
      const { buffer } = await produces.protocol({ version: 7 })(one).request.encode();
      expect(buffer.length).toBeGreaterThan(HEAD_OF_REQUEST + HEAD_OF_BATCH);
    });
  });
});
