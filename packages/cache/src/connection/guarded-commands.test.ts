import { ClientOfflineError, ErrorReply, SocketClosedUnexpectedlyError } from 'redis';
import { createLogRecorder } from '../../test/log-recorder';
import { type CacheEvent } from '../cache-event';
import { createCircuit } from './circuit';
import { createGuardedCommands } from './guarded-commands';
import { type RedisClient } from './redis-client';

const setup = (isUp = true) => {
  const events: CacheEvent[] = [];
  const log = createLogRecorder();
  const recycled: string[] = [];
  const client = {} as RedisClient; // Only handed on to `send`.
  const commands = createGuardedCommands({
    connection: {
      current: () => (isUp ? client : undefined),
      recycle: (reason) => recycled.push(reason),
      close: () => Promise.resolve(),
    },
    circuit: createCircuit({ openMs: 60_000, onChange: (state) => events.push({ type: 'circuit', state }) }),
    timeoutMs: 5,
    record: (event) => events.push(event),
    log,
  });
  return { commands, events, log, recycled };
};

const failing = (error: Error) => (): Promise<never> => Promise.reject(error);
const silent = (): Promise<never> => new Promise(() => undefined);

describe('guarded commands', () => {
  it('hand on the answer', async () => {
    const { commands, events } = setup();
    await expect(commands.run('get', () => Promise.resolve('A'))).resolves.toEqual({ kind: 'answered', value: 'A' });
    expect(events).toEqual([]);
  });

  it('send nothing while there is no connection', async () => {
    const { commands, events } = setup(false);
    const send = jest.fn(silent);
    await expect(commands.run('set', send)).resolves.toEqual({ kind: 'skipped' });
    expect(send).not.toHaveBeenCalled();
    expect(events).toEqual([{ type: 'command_failed', command: 'set', reason: 'skipped' }]);
  });

  it.each([
    ['the connection is lost', new SocketClosedUnexpectedlyError(), 'unknown', 'lost'],
    ['the client is offline', new ClientOfflineError(), 'skipped', 'skipped'],
    ['the queue is full', new Error('The queue is full'), 'skipped', 'skipped'],
    ['the server refuses', new ErrorReply('OOM command not allowed'), 'refused', 'refused'],
  ])('tell when %s', async (_when, error, kind, reason) => {
    const { commands, events } = setup();
    await expect(commands.run('set', failing(error))).resolves.toEqual({ kind });
    expect(events).toEqual([{ type: 'command_failed', command: 'set', reason }]);
  });

  it('wait for a silent cache three times, then not at all', async () => {
    const { commands, events } = setup();
    for (let time = 0; time < 3; time += 1)
      await expect(commands.run('get', silent)).resolves.toEqual({ kind: 'unknown' });
    const send = jest.fn(silent);
    await expect(commands.run('get', send)).resolves.toEqual({ kind: 'skipped' });
    expect(send).not.toHaveBeenCalled();
    expect(events).toContainEqual({ type: 'circuit', state: 'open' });
  });

  it('log a refusal when it begins and when it ends, with its code alone', async () => {
    const { commands, log } = setup();
    const refusal = failing(new ErrorReply("OOM command not allowed when used memory > 'maxmemory' secret"));
    for (let time = 0; time < 5; time += 1) await commands.run('set', refusal);
    await commands.run('get', () => Promise.resolve('A'));
    for (let time = 0; time < 5; time += 1) await commands.run('set', () => Promise.resolve('OK'));
    expect(log.lines.map(({ level, fields }) => ({ level, fields }))).toEqual([
      { level: 'warn', fields: { command: 'set', code: 'OOM' } },
      { level: 'info', fields: { command: 'set' } },
    ]);
  });

  it('make a new connection when the server has become a replica', async () => {
    const { commands, recycled } = setup();
    await commands.run('set', failing(new ErrorReply("READONLY You can't write against a read only replica.")));
    expect(recycled).toEqual(['READONLY']);
  });
});
