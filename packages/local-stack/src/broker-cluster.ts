import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { freePort } from './network/free-port';
import { type OpenStack, openStack } from './open-stack';
import { createServerProcess } from './process/server-process';
import type { BrokerNode } from './servers/broker-configuration';
import { newClusterId, prepareBrokerAt } from './servers/broker-server';
import type { ServerControl, StackOptions } from './stack-options';

/** The directory holds the data of all brokers; the other options are those of a stack. */
type ClusterOptions = Pick<StackOptions, 'directory' | 'downloads' | 'signal' | 'onProgress' | 'durable'>;

/** Several brokers that are one cluster, on loopback, without TLS and accounts. */
export interface RunningCluster {
  /** `127.0.0.1:PORT` of each broker; the first one's id on the cluster is 1. The addresses stay the same after a restart. */
  readonly addresses: readonly string[];
  /** In the order of {@link addresses}. The cluster works as long as a majority of them runs. */
  readonly controls: readonly ServerControl[];
  /** Stops every broker within 8 s; brokers that have not ended by then are killed. Idempotent. */
  stop(): Promise<void>;
}

const BROKERS = 3;
/** Heap of each broker: small, since three brokers and their clients share one machine. */
const HEAP_MIB = 256;

/**
 * Starts three brokers, each of them a controller too, and resolves when all of them answer. Topics have three copies unless they say
 * otherwise, and a message is acknowledged once two copies have it. For tests: `startStack` starts one broker. @throws {StackError} when
 * one does not start; the others have then been stopped.
 */
export const startBrokerCluster = async (options: ClusterOptions): Promise<RunningCluster> => {
  const stack = await openStack(options);
  try {
    const nodes: BrokerNode[] = [];
    for (let id = 1; id <= BROKERS; id += 1)
      nodes.push({ id, ports: { clients: await freePort(), controller: await freePort() } });
    await startAll(stack, nodes);
    return runningCluster(stack, nodes);
  } catch (error) {
    await stack.close();
    throw error;
  }
};

/** Rejects with the first failure, once everything that was under way has ended. */
const startAll = async (stack: OpenStack, nodes: readonly BrokerNode[]): Promise<void> => {
  const clusterId = keptClusterId(stack.directory);
  const starts = nodes.map((node) =>
    startNode(stack, { node, nodes, folder: nameOf(node), clusterId, heapMib: HEAP_MIB }).catch((error: unknown) => {
      stack.failure.abort(error);
      throw error;
    }),
  );
  await Promise.allSettled(starts);
  // Throws what the first of several failures gave as its reason.
  stack.failure.signal.throwIfAborted();
};

const startNode = async (stack: OpenStack, placement: Parameters<typeof prepareBrokerAt>[0]): Promise<void> => {
  const { directory, options, register, reporter, servers } = stack;
  const { id, ports } = placement.node;
  const signal = stack.failure.signal;
  const say: ReturnType<typeof reporter.of> = (step, message) => reporter.of('broker')(step, `${id}: ${message}`);
  const recipe = await prepareBrokerAt(placement, {
    server: 'broker',
    directory,
    downloads: resolve(options.downloads),
    durable: options.durable ?? true,
    port: ports.clients,
    signal,
    say,
  });
  const process = createServerProcess(recipe, { register, signal, say });
  servers.set(nameOf(placement.node), { process, say });
  say('start', `starting on port ${ports.clients}`);
  await process.start();
  say('ready', `ready on port ${ports.clients}`);
};

const nameOf = ({ id }: BrokerNode): string => `broker-${id}`;

/** The id of the cluster of this directory; generated at its first start. */
const keptClusterId = (directory: string): string => {
  const path = join(directory, 'cluster-id');
  if (existsSync(path)) return readFileSync(path, 'utf8').trim();
  const made = newClusterId();
  writeFileSync(path, `${made}\n`);
  return made;
};

const runningCluster = ({ servers, close }: OpenStack, nodes: readonly BrokerNode[]): RunningCluster => {
  let stopped: Promise<void> | undefined;
  return {
    addresses: nodes.map(({ ports }) => `127.0.0.1:${ports.clients}`),
    controls: nodes.flatMap((node) => servers.get(nameOf(node))?.process ?? []),
    stop: () => (stopped ??= close()),
  };
};
