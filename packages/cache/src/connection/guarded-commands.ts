import { traced } from '@decision/tracing';
import { LATE, resultWithin } from '@decision/waiting';
import { ClientClosedError, ClientOfflineError, ErrorReply } from 'redis';
import type { CacheCommandName, CacheEvent, CacheLog } from '../cache-event';
import { failureName, type RedisClient } from './redis-client';
import type { SupervisedConnection } from './supervised-connection';

/**
 * How a command ended. `skipped`: not sent. `unknown`: sent, but not answered in time or before the connection was lost; it
 * may still be executed. `refused`: answered with an error, not executed.
 */
export type Outcome<T> =
  | { readonly kind: 'answered'; readonly value: T }
  | { readonly kind: 'skipped' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'refused' };

/** Sends commands with a deadline, or not at all while the cache is known not to answer. Never rejects. */
export interface GuardedCommands {
  run<T>(command: CacheCommandName, send: (client: RedisClient) => Promise<T>): Promise<Outcome<T>>;
}

interface GuardedCommandsOptions {
  readonly connection: SupervisedConnection;
  readonly circuit: Circuit;
  readonly timeoutMs: number;
  readonly record: (event: CacheEvent) => void;
  readonly log: CacheLog;
}

export const createGuardedCommands = (options: GuardedCommandsOptions): GuardedCommands => {
  const { connection, circuit, timeoutMs, record } = options;
  const refusals = createRefusalLog(options.log);

  const send = async <T>(command: CacheCommandName, work: Promise<T>): Promise<Outcome<T>> => {
    try {
      const value = await resultWithin(work, timeoutMs);
      circuit.record(value === LATE ? 'silent' : 'answered', performance.now());
      if (value === LATE) return failed(command, 'timeout');
      refusals.accepted(command);
      return { kind: 'answered', value };
    } catch (error) {
      return onError(command, error);
    }
  };

  const onError = <T>(command: CacheCommandName, error: unknown): Outcome<T> => {
    const refused = error instanceof ErrorReply;
    circuit.record(refused ? 'answered' : 'lost', performance.now());
    if (!refused) return failed(command, wasNotSent(error) ? 'skipped' : 'lost');
    const code = failureName(error);
    refusals.refused(command, code);
    // The server has become a replica: the address may lead to the new primary by now.
    if (code === 'READONLY') connection.recycle(code);
    return failed(command, 'refused');
  };

  const failed = <T>(command: CacheCommandName, reason: keyof typeof OUTCOMES): Outcome<T> => {
    record({ type: 'command_failed', command, reason });
    return OUTCOMES[reason];
  };

  return {
    run: async (command, work) => {
      const client = connection.current();
      if (!client || !circuit.admits(performance.now())) return failed(command, 'skipped');
      return traced(
        () => ({ name: command, kind: 'client', attributes: { 'db.system.name': 'redis' } }),
        () => send(command, work(client)),
      );
    },
  };
};

const OUTCOMES = {
  skipped: { kind: 'skipped' },
  timeout: { kind: 'unknown' },
  lost: { kind: 'unknown' },
  refused: { kind: 'refused' },
} as const;

/** The client answers these before it writes anything. A full queue can only be recognized by its message. */
const wasNotSent = (error: unknown): boolean =>
  error instanceof ClientOfflineError ||
  error instanceof ClientClosedError ||
  (error instanceof Error && error.message === 'The queue is full');

/** Logs the first refusal and the first acceptance after it, not each one. */
const createRefusalLog = (log: CacheLog) => {
  const refusing = new Set<CacheCommandName>();
  return {
    refused: (command: CacheCommandName, code: string): void => {
      if (refusing.has(command)) return;
      refusing.add(command);
      log.warn({ command, code }, 'The cache refuses a command; everything is served without its effect.');
    },
    accepted: (command: CacheCommandName): void => {
      if (refusing.delete(command)) log.info({ command }, 'The cache accepts the command again.');
    },
  };
};

/** How a sent command ended: answered in time (with an error or not), not answered within its deadline, or cut off with the connection. */
type CircuitVerdict = 'answered' | 'silent' | 'lost';

export type CircuitState = 'open' | 'closed';

/**
 * A circuit breaker that spares readers the wait for a silent cache.
 *
 * | state   | admits          | answered | silent                                | lost     |
 * |---------|-----------------|----------|---------------------------------------|----------|
 * | closed  | everything      | closed   | third in a row: open for `openMs`     | closed   |
 * | open    | nothing, until its time has passed: then one probe | closed | open | open     |
 * | probing | nothing         | closed   | open, twice as long, at most 5 x `openMs` | open again |
 */
interface Circuit {
  /** Whether a command may be sent now. Each true must be followed by one `record`: it may have admitted the only probe. */
  admits(now: number): boolean;
  record(verdict: CircuitVerdict, now: number): void;
  /** A new connection has become usable: resets the circuit. */
  reset(): void;
}

interface CircuitOptions {
  readonly openMs: number;
  readonly onChange: (state: CircuitState) => void;
}

type State =
  | { readonly kind: 'closed'; readonly silences: number }
  | { readonly kind: 'open'; readonly until: number; readonly openMs: number }
  | { readonly kind: 'probing'; readonly openMs: number };

const SILENCES_TO_OPEN = 3;
const LONGEST_FACTOR = 5;
const CLOSED: State = { kind: 'closed', silences: 0 };

export const createCircuit = ({ openMs, onChange }: CircuitOptions): Circuit => {
  let state: State = CLOSED;
  const become = (next: State): void => {
    const before = stateOf(state);
    state = next;
    if (stateOf(next) !== before) onChange(stateOf(next));
  };
  const open = (now: number, forMs: number): void => become({ kind: 'open', until: now + forMs, openMs: forMs });

  const onSilence = (now: number): void => {
    if (state.kind === 'probing') open(now, Math.min(state.openMs * 2, openMs * LONGEST_FACTOR));
    if (state.kind !== 'closed') return;
    if (state.silences + 1 >= SILENCES_TO_OPEN) open(now, openMs);
    else become({ kind: 'closed', silences: state.silences + 1 });
  };

  return {
    admits: (now) => {
      if (state.kind === 'closed') return true;
      if (state.kind === 'probing' || now < state.until) return false;
      become({ kind: 'probing', openMs: state.openMs });
      return true;
    },
    record: (verdict, now) => {
      if (verdict === 'answered') become(CLOSED);
      else if (verdict === 'silent') onSilence(now);
      else if (state.kind === 'probing') open(now, state.openMs);
    },
    reset: () => become(CLOSED),
  };
};

const stateOf = (state: State): CircuitState => (state.kind === 'closed' ? 'closed' : 'open');
