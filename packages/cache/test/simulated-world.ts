import { SocketClosedUnexpectedlyError } from 'redis';
import { type Cache, createInvalidator, createReadThrough, type Invalidator, type ReadThrough } from '../src';
import { createCircuit, createGuardedCommands } from '../src/connection/guarded-commands';
import { createEraser } from '../src/invalidation/eraser';
import { type ChannelCore, createChannel } from '../src/invalidation/invalidation-channel';
import type { RedisClient } from '../src/connection/redis-client';
import { createSharedCache, deleteKeys } from '../src/connection/shared-cache';
import { checkThing, type Thing } from './counted-source';
import { createLogRecorder } from './log-recorder';
import { after, virtualNow } from './virtual-time';

/** A stretch of virtual time, ms. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

export interface WorldOptions {
  /** Decides every latency. */
  readonly seed: number;
  /** How far the clock of each process is ahead, ms; one process for each. */
  readonly clocksAhead: readonly number[];
  readonly localTtlMs: number;
  readonly sharedTtlMs: number | undefined;
  /** Loads take up to this, ms. */
  readonly longestLoadMs: number;
  /** When the server executes nothing. */
  readonly pauses: readonly Window[];
  /** When a process hears no messages: [process, window]. */
  readonly deaf: readonly (readonly [number, Window])[];
  /** When a process has no connection for commands. What is under way then is lost, executed or not. */
  readonly cuts: readonly (readonly [number, Window])[];
}

/**
 * A database with one row, a cache server and some processes, in virtual time. All code of the package is real except the sockets: a
 * client's commands travel, wait for a paused server, are executed in order, and are answered.
 */
export interface World {
  /** Reads in one process; answers the number of the version that it got. */
  read(process: number): Promise<number>;
  /** Commits the next version and announces it from one process. `silent` leaves the announcement out. */
  write(process: number, silent?: boolean): Promise<void>;
  /** When each version was committed, ms of virtual time; version 0 was always there. */
  readonly commits: readonly number[];
  close(): Promise<void>;
}

const KEY = 'k';
const WORKSPACE = '3f0b8f4e-6f5c-4f0e-9a53-2f1f3c9b7a10';

export const createWorld = (options: WorldOptions): World => {
  const random = createRandom(options.seed);
  const commits = [0];
  const server = createServer(options, random);
  const processes = options.clocksAhead.map((ahead, index) => startProcess(options, server, { ahead, index }));

  const load = async (): Promise<Thing> => {
    const total = random() ** 2 * options.longestLoadMs;
    const until = random() * total;
    await after(until);
    const name = String(commits.length - 1);
    await after(total - until);
    return { name };
  };

  return {
    commits,
    read: async (process) => Number((await processes[process]?.things.read(KEY, load))?.name),
    write: async (process, silent = false) => {
      commits.push(virtualNow());
      if (!silent)
        await processes[process]?.invalidator.announce({ v: 1, kind: 'rule', workspace_id: WORKSPACE, keys: [KEY] });
    },
    close: async () => {
      await Promise.all(processes.map(({ invalidator }) => invalidator.close()));
    },
  };
};

interface Server {
  /** A connection: its commands are executed in the order in which they were sent. */
  connect(process: number): { execute<T>(work: (texts: Map<string, Stored>) => T): Promise<T> };
  /** Registers who hears messages. */
  listen(process: number, channel: ChannelCore): void;
  spread(text: string): void;
}

interface Stored {
  readonly text: string;
  readonly until: number;
}

/** Whether a process is in one of its windows now. */
const isIn = (windows: WorldOptions['deaf'], process: number): boolean =>
  windows.some(([whom, { from, to }]) => whom === process && from <= virtualNow() && virtualNow() < to);

const createServer = ({ pauses, deaf, cuts }: WorldOptions, random: () => number): Server => {
  const texts = new Map<string, Stored>();
  const listeners: [number, ChannelCore][] = [];
  const awake = (at: number): number =>
    Math.max(at, ...pauses.filter(({ from, to }) => from <= at && at < to).map(({ to }) => to));
  const hears = (process: number): boolean => !isIn(deaf, process);
  deaf.forEach(([whom, { to }]) => {
    setTimeout(
      () =>
        listeners
          .filter(([process]) => process === whom && hears(process))
          .forEach(([, channel]) => channel.reconnected()),
      to,
    );
  });

  return {
    connect: (process) => {
      let executedUntil = 0;
      return {
        execute: async (work) => {
          const sentAt = virtualNow();
          // A server that resumes does not read its connections in the order in which they wrote.
          const arrival = sentAt + random() * 20;
          const isHeld = awake(arrival) > arrival;
          executedUntil = Math.max(executedUntil, awake(arrival) + (isHeld ? random() * 200 : 0));
          await after(executedUntil - sentAt);
          if (isIn(cuts, process) && random() < 0.5) throw new SocketClosedUnexpectedlyError();
          const result = work(texts);
          await after(random() * 20);
          if (isIn(cuts, process)) throw new SocketClosedUnexpectedlyError();
          return result;
        },
      };
    },
    listen: (process, channel) => void listeners.push([process, channel]),
    spread: (text) => {
      for (const [, channel] of listeners.filter(([process]) => hears(process)))
        setTimeout(() => channel.receive(text), random() * 50);
    },
  };
};

interface SimulatedProcess {
  readonly things: ReadThrough<Thing>;
  readonly invalidator: Invalidator;
}

const startProcess = (
  options: WorldOptions,
  server: Server,
  { ahead, index }: { ahead: number; index: number },
): SimulatedProcess => {
  const cache = createSimulatedCache(options, server, index);
  const things = createReadThrough<Thing>(cache, {
    name: 'things',
    maxEntries: 10,
    localTtlMs: options.localTtlMs,
    sharedTtlMs: options.sharedTtlMs,
    refreshAfterMs: Infinity,
    validate: checkThing,
    // Far from zero, so that a clock can be behind it.
    clock: () => 1_000_000_000 + virtualNow() + ahead,
  });
  return { things, invalidator: createInvalidator(cache) };
};

const createSimulatedCache = ({ cuts }: WorldOptions, server: Server, index: number): Cache => {
  const record = (): void => undefined;
  const log = createLogRecorder();
  const client = createSimulatedClient(server, index);
  const circuit = createCircuit({ openMs: 1_000, onChange: () => undefined });
  const commands = createGuardedCommands({
    connection: {
      current: () => (isIn(cuts, index) ? undefined : client),
      recycle: () => undefined,
      close: () => Promise.resolve(),
    },
    circuit,
    timeoutMs: 100,
    record,
    log,
  });
  const eraser = createEraser({
    erase: (keys) => deleteKeys(commands, '', keys),
    retryMs: 1_000,
    onDropped: () => undefined,
  });
  const channel = createChannel({
    send: async (text) => (await commands.run('publish', (to) => to.publish('channel', text))).kind === 'answered',
    record,
    log,
  });
  server.listen(index, channel);
  for (const [, { to }] of cuts.filter(([whom]) => whom === index)) {
    setTimeout(() => {
      circuit.reset();
      void eraser.flush();
    }, to);
  }
  return {
    shared: createSharedCache({ commands, eraser, keyPrefix: '', commandTimeoutMs: 100 }),
    invalidations: channel,
    status: () => ({ enabled: true, connected: true, channel: { enabled: true, ready: true, name: 'channel' } }),
    record,
    close: () => Promise.resolve(),
  };
};

const createSimulatedClient = (server: Server, index: number): RedisClient => {
  const connection = server.connect(index);
  const client = {
    get: (key: string) =>
      connection.execute((texts) => {
        const stored = texts.get(key);
        return stored && virtualNow() < stored.until ? stored.text : null;
      }),
    set: (key: string, text: string, { expiration }: { expiration?: { value: number } }) =>
      connection.execute((texts) => {
        texts.set(key, { text, until: virtualNow() + (expiration?.value ?? Infinity) });
        return 'OK';
      }),
    del: (keys: string[]) => connection.execute((texts) => keys.filter((key) => texts.delete(key)).length),
    publish: (_channel: string, text: string) =>
      connection.execute(() => {
        server.spread(text);
        return 1;
      }),
  };
  return client as unknown as RedisClient; // The four commands that the package sends.
};

/** A small generator of numbers from 0 to 1 (mulberry32): the same seed, the same numbers. */
const createRandom = (seed: number): (() => number) => {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};
