import { ServiceError } from '@decision/contracts';
import { type Cluster, CompressionTypes, KafkaJSProtocolError } from 'kafkajs';
import installed from 'kafkajs/package.json';
import { inflaterOf } from '../codec/codecs';
import { snappyCodec } from '../codec/snappy-codec';
import { encodeFetchRequest, type FetchRequest, isPlainFetch } from '../wire/fetch-request';
import { decodeFetchResponse } from '../wire/fetch-response';
import { encodeProduceRequest, isEncodable, type ProduceRequest } from '../wire/produce-request';

/**
 * All that this package does with parts of the client library that are not its API (decisions 18 and 23). They have been read in one version,
 * and another one may differ in any of them, so that no other one is used.
 */
const READ_VERSION = '2.2.4';

/** Versions of requests that this package writes and reads: those that brokers since 2.3 agree on with the client library. */
const FETCH_VERSION = 11;
const PRODUCE_VERSIONS = { oldest: 3, newest: 7 };

/** A folder of the library with the versions of one request: from a request to what writes it and reads its answer. */
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

/** On the library's own object, since a process may load this file twice. */
const changed = Symbol.for('@decision/broker: client library changed');

/**
 * Puts this package's parts in the place of the library's. Safe to call many times. Throws `ServiceError` internal_error where another version
 * of the library is installed than the one that has been read.
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
    `The Kafka client kafkajs ${version} is installed, and this service relies on internals of kafkajs ${READ_VERSION} alone. ` +
      `Install kafkajs ${READ_VERSION}, as the lock file says, or adapt packages/broker/src/connection/kafkajs-internals.ts to ${version}.`,
  );

/**
 * Stops the timer that each connection otherwise re-arms every millisecond for ever (about 4 % of a CPU when idle). A queue that holds
 * nothing needs no check: the library schedules one whenever it queues a request.
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
 * Encodes produce requests by this package: the library's encoder is the largest cost of sending small messages, three times the processor
 * time. Requests that it does not know (transactions, other compressions, timestamps) stay with the library.
 */
const quickenProduce = (exchange: ProduceExchange, request: ProduceRequest): ProduceExchange => {
  const { compression = CompressionTypes.None } = request;
  const known: number[] = [CompressionTypes.None, CompressionTypes.Snappy];
  if (known.includes(compression) && isEncodable(request))
    exchange.request.encode = async () => asEncoded(await encodeProduceRequest(request, Date.now(), compress));
  return exchange;
};

/**
 * Writes and reads fetches by this package: the library handles each of a topic's partitions by itself, with several objects and a heartbeat,
 * however few have messages, and a batch that it cannot read ends its consumer. Older record formats stay with the library.
 */
const quickenFetch = (exchange: FetchExchange, request: FetchRequest): FetchExchange => {
  const { response } = exchange;
  if (isPlainFetch(request)) exchange.request.encode = () => Promise.resolve(asEncoded(encodeFetchRequest(request)));
  // The library's own decoders are shared by all exchanges: this one gets another object.
  exchange.response = {
    ...response,
    decode: async (bytes) => (await decodeFetchResponse(bytes, inflaterOf)) ?? response.decode(bytes),
  };
  return exchange;
};

/** Methods of the broker that coordinates a group; the library's types leave them out. */
export interface Coordinator {
  leaveGroup(request: { groupId: string; memberId: string }): Promise<unknown>;
  /** Offsets as text; below 0 where none is committed. */
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
  return coordinator as Coordinator; // the library's broker of the version that has been read
};

/** Thrown inside a delivery to make this member join its group again at once. */
export const rejoinError = (): Error =>
  // The library recognises a rebalance by the error's type; its constructor copies it from whatever object it is given.
  new KafkaJSProtocolError({
    name: 'RejoinRequested',
    message: 'another member asked the group to rebalance',
    type: 'REBALANCE_IN_PROGRESS',
    retriable: false,
  } as unknown as Error);
