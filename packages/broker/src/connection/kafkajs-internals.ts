import { setImmediate as endOfTurn } from 'node:timers/promises';
import { ServiceError } from '@decision/contracts';
import { type Cluster, CompressionTypes, KafkaJSProtocolError } from 'kafkajs';
import installed from 'kafkajs/package.json';
import { inflaterOf } from '../codec/codecs';
import { snappyCodec } from '../codec/snappy-codec';
import { encodeFetchRequest, type FetchRequest, isPlainFetch } from '../wire/fetch-request';
import { decodeFetchResponse } from '../wire/fetch-response';
import { encodeProduceRequest, isEncodable, type ProduceRequest } from '../wire/produce-request';

/**
 * This package's only uses of parts of the client library that are not its API (decisions 18 and 23). They were read in one version and may
 * differ in any other, so no other version is accepted.
 */
const READ_VERSION = '2.2.4';

/** Versions of requests that this package writes and reads: those that brokers since 2.3 negotiate with the client library. */
const FETCH_VERSION = 11;
const PRODUCE_VERSIONS = { oldest: 3, newest: 7 };

/** A folder of the library with the versions of one request: maps a request to its encoder and the decoder of its answer. */
interface Requests<Request, Exchange> {
  protocol(how: { readonly version: number | string }): (request: Request) => Exchange;
}

/** An encoded request, as the library expects it. */
interface Encoded {
  readonly buf: Buffer;
  readonly buffer: Buffer;
}

interface ProduceExchange {
  readonly request: { encode(): Promise<Encoded> };
}

interface FetchExchange {
  readonly request: { encode(): Promise<Encoded> };
  response: { readonly decode: (bytes: Buffer) => Promise<unknown>; readonly parse: unknown };
}

interface RequestQueue {
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests(): void;
}

/** The private modules, loaded only once their version is known to be the right one. */
const loadModules = () => {
  /* eslint-disable @typescript-eslint/no-require-imports -- private modules have no types to import */
  const { prototype: queue } = require('kafkajs/src/network/requestQueue') as { readonly prototype: RequestQueue };
  const produce = require('kafkajs/src/protocol/requests/produce') as Requests<ProduceRequest, ProduceExchange>;
  const fetch = require('kafkajs/src/protocol/requests/fetch') as Requests<FetchRequest, FetchExchange>;
  /* eslint-enable @typescript-eslint/no-require-imports */
  return { queue, produce, fetch };
};

/** Stored on the library's own object, since a process may load this file twice. */
const changed = Symbol.for('@decision/broker: client library changed');

/**
 * Replaces the library's parts with this package's. Safe to call many times. Throws `ServiceError` internal_error if the installed version of the
 * library is not the one that was read.
 */
export const changeLibrary = (): void => {
  if (installed.version !== READ_VERSION) throw otherVersion(installed.version);
  const { queue, produce, fetch } = loadModules();
  const marked: RequestQueue & { [changed]?: true } = queue;
  if (marked[changed]) return;
  quietenIdleConnections(queue);
  replaceRequests(produce, isProduceVersion, quickenProduce);
  replaceRequests(fetch, (version) => version === FETCH_VERSION, quickenFetch);
  marked[changed] = true;
};

const otherVersion = (version: string): ServiceError =>
  new ServiceError(
    'internal_error',
    `The Kafka client kafkajs ${version} is installed, and this service relies on internals of kafkajs ${READ_VERSION} only. ` +
      `Install kafkajs ${READ_VERSION}, as the lock file says, or adapt packages/broker/src/connection/kafkajs-internals.ts to ${version}.`,
  );

/**
 * Stops the timer that each connection otherwise re-arms every millisecond for ever (about 4 % of a CPU when idle). An empty queue needs no
 * check: the library schedules one whenever it queues a request.
 */
const quietenIdleConnections = (queue: RequestQueue): void => {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called below with the queue it is called on
  const schedule = queue.scheduleCheckPendingRequests;
  queue.scheduleCheckPendingRequests = function (this: RequestQueue): void {
    if (this.pending.length > 0) schedule.call(this);
  };
};

const replaceRequests = <Request, Exchange>(
  requests: Requests<Request, Exchange>,
  covers: (version: number) => boolean,
  replace: (exchange: Exchange, request: Request) => Exchange,
): void => {
  const original = requests.protocol.bind(requests);
  requests.protocol = ({ version }) => {
    const make = original({ version });
    return covers(Number(version)) ? (request) => replace(make(request), request) : make;
  };
};

const asEncoded = (buffer: Buffer): Encoded => ({ buf: buffer, buffer });

const isProduceVersion = (version: number): boolean =>
  version >= PRODUCE_VERSIONS.oldest && version <= PRODUCE_VERSIONS.newest;

const compress = (records: Buffer): Buffer | Promise<Buffer> => snappyCodec.compress({ buffer: records });

/**
 * Encodes produce requests in this package: the library's encoder takes three times the processor time and is the largest cost of sending small
 * messages. The library still encodes requests that this package does not support (transactions, other compressions, timestamps).
 */
const quickenProduce = (exchange: ProduceExchange, request: ProduceRequest): ProduceExchange => {
  const { compression = CompressionTypes.None } = request;
  const known: number[] = [CompressionTypes.None, CompressionTypes.Snappy];
  if (known.includes(compression) && isEncodable(request))
    exchange.request.encode = async () => asEncoded(await encodeProduceRequest(request, Date.now(), compress));
  return exchange;
};

/**
 * Writes and reads fetches in this package: the library handles each partition of a topic separately, with several objects and a heartbeat, even
 * if few have messages, and a batch that it cannot read ends its consumer. The library still reads older record formats.
 *
 * A fetch is sent at the end of the turn in which the previous one was answered, after everything that its messages lead to: its write takes as
 * long as one that somebody waits for.
 */
const quickenFetch = (exchange: FetchExchange, request: FetchRequest): FetchExchange => {
  const { response } = exchange;
  if (isPlainFetch(request))
    exchange.request.encode = async () => {
      await endOfTurn();
      return asEncoded(encodeFetchRequest(request));
    };
  // The library's own decoders are shared by all exchanges, so this exchange gets its own object.
  exchange.response = {
    ...response,
    decode: async (bytes) => (await decodeFetchResponse(bytes, inflaterOf)) ?? response.decode(bytes),
  };
  return exchange;
};

/** Methods of a group's coordinator that the library's types leave out. */
export interface Coordinator {
  leaveGroup(request: { groupId: string; memberId: string }): Promise<unknown>;
  /** Offsets as text; below 0 if none is committed. */
  offsetFetch(request: {
    groupId: string;
    topics: readonly { topic: string; partitions: readonly { partition: number }[] }[];
  }): Promise<{ responses: { partitions: { partition: number; offset: string }[] }[] }>;
  describeGroups(request: { groupIds: readonly string[] }): Promise<{
    readonly groups: readonly {
      readonly members: readonly { readonly memberId: string; readonly clientId: string }[];
    }[];
  }>;
}

export const findCoordinator = async (cluster: Cluster, groupId: string): Promise<Coordinator> => {
  const coordinator: unknown = await cluster.findGroupCoordinator({ groupId });
  return coordinator as Coordinator; // the library's broker in the version that was read
};

/** Thrown inside a delivery to make this member rejoin its group at once. */
export const rejoinError = (): Error =>
  // The library recognises a rebalance by the error's type; its constructor copies the type from any object it is given.
  new KafkaJSProtocolError({
    name: 'RejoinRequested',
    message: 'another member asked the group to rebalance',
    type: 'REBALANCE_IN_PROGRESS',
    retriable: false,
  } as unknown as Error);
