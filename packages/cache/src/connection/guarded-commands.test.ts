import { ClientOfflineError, ErrorReply, SocketClosedUnexpectedlyError } from 'redis';
import { createLogRecorder } from '../../test/log-recorder';
import type { CacheEvent } from '../cache-event';
import { type CircuitState, createCircuit, createGuardedCommands } from './guarded-commands';
import type { RedisClient } from './redis-client';

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

  it('send nothing without a connection', async () => {
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
  ])('report the outcome when %s', async (_when, error, kind, reason) => {
    const { commands, events } = setup();
    await expect(commands.run('set', failing(error))).resolves.toEqual({ kind });
    expect(events).toEqual([{ type: 'command_failed', command: 'set', reason }]);
  });

  it('wait for a silent cache three times, then skip it', async () => {
    const { commands, events } = setup();
    for (let time = 0; time < 3; time += 1)
      await expect(commands.run('get', silent)).resolves.toEqual({ kind: 'unknown' });
    const send = jest.fn(silent);
    await expect(commands.run('get', send)).resolves.toEqual({ kind: 'skipped' });
    expect(send).not.toHaveBeenCalled();
    expect(events).toContainEqual({ type: 'circuit', state: 'open' });
  });

  it('log a refusal when it begins and when it ends, with only its code', async () => {
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

const OPEN_MS = 1_000;

const openCircuit = () => {
  const changes: CircuitState[] = [];
  const circuit = createCircuit({ openMs: OPEN_MS, onChange: (state) => changes.push(state) });
  const silence = (times: number, now: number): void => {
    for (let time = 0; time < times; time += 1) circuit.record('silent', now);
  };
  return { circuit, changes, silence };
};

describe('a circuit', () => {
  it('stays closed until three timeouts come in a row', () => {
    const { circuit, changes, silence } = openCircuit();
    for (let round = 0; round < 5; round += 1) {
      silence(2, 0);
      circuit.record('answered', 0);
    }
    expect(circuit.admits(0)).toBe(true);
    expect(changes).toEqual([]);
  });

  it('does not count a lost connection as a timeout', () => {
    const { circuit } = openCircuit();
    for (let time = 0; time < 10; time += 1) circuit.record('lost', 0);
    expect(circuit.admits(0)).toBe(true);
  });

  it('opens once at the third timeout, for its configured time', () => {
    const { circuit, changes, silence } = openCircuit();
    silence(50, 0);
    expect(changes).toEqual(['open']);
    expect(circuit.admits(OPEN_MS - 1)).toBe(false);
  });

  it('then admits one probe, and closes when the probe is answered', () => {
    const { circuit, changes, silence } = openCircuit();
    silence(3, 0);
    expect([circuit.admits(OPEN_MS), circuit.admits(OPEN_MS), circuit.admits(OPEN_MS * 99)]).toEqual([
      true,
      false,
      false,
    ]);
    circuit.record('answered', OPEN_MS);
    expect(circuit.admits(OPEN_MS)).toBe(true);
    expect(changes).toEqual(['open', 'closed']);
  });

  it('stays open twice as long after each silent probe, at most five times as long', () => {
    const { circuit, silence } = openCircuit();
    silence(3, 0);
    let now = OPEN_MS;
    for (const next of [2, 4, 5, 5, 5].map((factor) => factor * OPEN_MS)) {
      expect(circuit.admits(now)).toBe(true);
      circuit.record('silent', now);
      expect(circuit.admits(now + next - 1)).toBe(false);
      now += next;
    }
  });

  it('tries again after a probe whose connection was lost', () => {
    const { circuit, silence } = openCircuit();
    silence(3, 0);
    circuit.admits(OPEN_MS);
    circuit.record('lost', OPEN_MS);
    expect(circuit.admits(OPEN_MS * 2 - 1)).toBe(false);
    expect(circuit.admits(OPEN_MS * 2)).toBe(true);
  });

  it('resets with a new connection', () => {
    const { circuit, changes, silence } = openCircuit();
    silence(3, 0);
    circuit.reset();
    expect(circuit.admits(0)).toBe(true);
    silence(2, 0);
    expect(changes).toEqual(['open', 'closed']);
  });
});
