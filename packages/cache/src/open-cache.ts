import type { Cache } from './cache';
import { type CacheAddress, describeAddress } from './connection/cache-address';
import type { CacheConnectionName, CacheEvent, CacheLog } from './cache-event';
import { type CacheSettings, type ResolvedSettings, resolveSettings } from './cache-settings';
import { createCircuit, createGuardedCommands, type GuardedCommands } from './connection/guarded-commands';
import { createDisabledCache } from './connection/disabled-cache';
import { createSeal } from './envelope';
import { createEraser, type Eraser } from './invalidation/eraser';
import { type ChannelCore, createChannel } from './invalidation/invalidation-channel';
import { newRedisClient } from './connection/redis-client';
import { createSharedCache, deleteKeys } from './connection/shared-cache';
import {
  type ConnectionPlan,
  superviseConnection,
  type SupervisedConnection,
} from './connection/supervised-connection';

const NO_CACHE =
  'No cache is configured: this process reads from the database, more slowly, and sees changes made by others only when its own entries end.';

/**
 * Opens the shared cache and its invalidation channel. Returns at once and connects in the background, retrying for ever; `status` says
 * whether the cache is up. Throws CacheSettingsError if the settings are invalid.
 */
export const openCache = (
  settings: CacheSettings,
  log: CacheLog,
  onEvent: (event: CacheEvent) => void = () => undefined,
): Cache => {
  const resolved = resolveSettings(settings);
  const record = shielded(onEvent, log);
  if (!resolved.address) {
    log.warn({}, NO_CACHE);
    return createDisabledCache(resolved.channel, log, record);
  }
  return openRedisCache({ address: resolved.address, settings: resolved, log, record });
};

interface Opening {
  readonly address: CacheAddress;
  readonly settings: ResolvedSettings;
  readonly log: CacheLog;
  readonly record: (event: CacheEvent) => void;
}

const openRedisCache = (opening: Opening): Cache => {
  const { settings, record } = opening;
  const { commands, connection, eraser } = openCommands(opening);
  const channel = createChannel({
    send: async (text) =>
      (await commands.run('publish', (client) => client.publish(settings.channel, text))).kind === 'answered',
    record,
    log: opening.log,
  });
  const subscriber = openSubscriber(opening, channel);
  const isUp = (one: SupervisedConnection): boolean => one.current() !== undefined;

  return {
    shared: createSharedCache({ ...settings, commands, eraser }),
    invalidations: channel,
    seal: settings.signingSecret && createSeal(settings.signingSecret),
    status: () => ({
      enabled: true,
      connected: isUp(connection),
      channel: { enabled: true, ready: isUp(subscriber), name: settings.channel },
    }),
    record,
    close: async () => {
      eraser.close();
      await Promise.all([connection.close(), subscriber.close()]);
    },
  };
};

interface CommandSide {
  readonly commands: GuardedCommands;
  readonly connection: SupervisedConnection;
  readonly eraser: Eraser;
}

const openCommands = (opening: Opening): CommandSide => {
  const { settings, log, record } = opening;
  const { keyPrefix } = settings;
  const circuit = createCircuit({
    openMs: settings.circuitOpenMs,
    onChange: (state) => {
      record({ type: 'circuit', state });
      if (state === 'open') log.warn({}, 'The cache does not answer in time; reads go on without it for a while.');
      else log.info({}, 'The cache answers in time again.');
    },
  });
  // An ordinary read of a key that nobody writes. If it works, every read works; a server that wants a password, is loading or forbids
  // reads to this user answers it with an error.
  const connection = connect(opening, 'commands', {
    prepare: (client) => client.get(`${keyPrefix}probe`),
    beat: (client) => client.get(`${keyPrefix}probe`),
    onUp: () => {
      circuit.reset();
      void eraser.flush();
    },
  });
  const commands = createGuardedCommands({ connection, circuit, timeoutMs: settings.commandTimeoutMs, record, log });
  const eraser = createEraser({
    erase: (keys) => deleteKeys(commands, keyPrefix, keys),
    retryMs: settings.eraseRetryMs,
    onDropped: (count) => {
      record({ type: 'erasures_dropped', count });
      log.error(
        { count },
        'Too many deletes are pending for the cache; entries may be stale until they expire or are refreshed.',
      );
    },
  });
  return { commands, connection, eraser };
};

const openSubscriber = (opening: Opening, channel: ChannelCore): SupervisedConnection =>
  connect(opening, 'subscriber', {
    prepare: (client) => client.subscribe(opening.settings.channel, (text) => channel.receive(text)),
    beat: (client) => client.ping(),
    onUp: () => channel.reconnected(),
  });

type Role = Pick<ConnectionPlan, 'prepare' | 'beat' | 'onUp'>;

const connect = (
  { address, settings, log, record }: Opening,
  name: CacheConnectionName,
  role: Role,
): SupervisedConnection => {
  const facts = { connection: name, address: describeAddress(address) };
  return superviseConnection({
    ...role,
    open: () => newRedisClient(address, settings),
    connectTimeoutMs: settings.connectTimeoutMs,
    heartbeatMs: settings.heartbeatMs,
    onUp: () => {
      log.info(facts, 'Connected to the cache.');
      record({ type: 'connection', connection: name, state: 'connected' });
      role.onUp();
    },
    onDown: (reason) => {
      log.warn({ ...facts, reason }, 'No connection to the cache; everything is served without it until it returns.');
      record({ type: 'connection', connection: name, state: 'disconnected' });
    },
  });
};

/** An observer that fails must not fail a read; it is logged once. */
const shielded = (onEvent: (event: CacheEvent) => void, log: CacheLog): ((event: CacheEvent) => void) => {
  let isReported = false;
  return (event) => {
    try {
      onEvent(event);
    } catch (error) {
      if (!isReported) log.error({ err: error, event: event.type }, 'The observer of cache events failed.');
      isReported = true;
    }
  };
};
