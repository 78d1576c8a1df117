import { backOffMs, pause, settledWithin } from '@decision/waiting';
import { failureName, type RedisClient } from './redis-client';

/** How one connection is made, checked and kept alive. */
export interface ConnectionPlan {
  /** A new client, not yet connected. */
  readonly open: () => RedisClient;
  /** Checks that the connection can do its work; only then is it up. */
  readonly prepare: (client: RedisClient) => Promise<unknown>;
  /** Sends a heartbeat. Any answer counts, even an error. */
  readonly beat: (client: RedisClient) => Promise<unknown>;
  readonly connectTimeoutMs: number;
  readonly heartbeatMs: number;
  readonly onUp: () => void;
  /** Called when a connection that was up is lost, and once when the very first attempt fails. Not called by `close`. */
  readonly onDown: (reason: string) => void;
}

/**
 * A connection that is made again for ever, with back-off up to two seconds.
 *
 * waiting -> opening -> up -> waiting ...: a session is the life of one client. It ends when it is not up within `connectTimeoutMs`, when
 * its socket fails, when a heartbeat stays unanswered for as long, or by `recycle` or `close`.
 */
export interface SupervisedConnection {
  /** The client, while it is up. */
  current(): RedisClient | undefined;
  /** Ends the present session; a new one begins after a back-off. */
  recycle(reason: string): void;
  close(): Promise<void>;
}

const RETRY = { initialMs: 50, maxMs: 2_000 };
/** A session that lasted this long was stable: the next back-off starts from the shortest pause. */
const SOUND_SESSION_MS = 5_000;

export const superviseConnection = (plan: ConnectionPlan): SupervisedConnection => {
  const closing = new AbortController();
  let session: Session | undefined;

  const run = async (): Promise<void> => {
    let failures = 0;
    let isReported = false;
    while (!closing.signal.aborted) {
      const startedAt = performance.now();
      session = startSession(plan);
      const { reason, wasUp } = await session.ended;
      if (closing.signal.aborted) return;
      if (wasUp || !isReported) plan.onDown(reason);
      isReported = true;
      if (wasUp && performance.now() - startedAt >= SOUND_SESSION_MS) failures = 0;
      failures += 1;
      await pause(backOffMs(failures, RETRY), closing.signal);
    }
  };
  const running = run();

  return {
    current: () => session?.current(),
    recycle: (reason) => session?.end(reason),
    close: async () => {
      closing.abort();
      session?.end('closed');
      await running;
    },
  };
};

interface SessionEnd {
  readonly reason: string;
  readonly wasUp: boolean;
}

interface Session {
  readonly ended: Promise<SessionEnd>;
  current(): RedisClient | undefined;
  end(reason: string): void;
}

const startSession = (plan: ConnectionPlan): Session => {
  const client = plan.open();
  let state: 'opening' | 'up' | 'over' = 'opening';
  let timer: NodeJS.Timeout | undefined;
  let settle: (end: SessionEnd) => void = () => undefined;
  const ended = new Promise<SessionEnd>((resolve) => {
    settle = resolve;
  });

  const end = (reason: string): void => {
    if (state === 'over') return;
    const wasUp = state === 'up';
    state = 'over';
    clearTimeout(timer);
    client.destroy();
    settle({ reason, wasUp });
  };
  const beat = async (): Promise<void> => {
    if (!(await isAlive(client, plan))) end('heartbeat unanswered');
    else if (state === 'up') beatLater();
  };
  const beatLater = (): void => {
    timer = setTimeout(() => void beat(), plan.heartbeatMs);
  };
  const becomeUp = (): void => {
    if (state !== 'opening') return;
    state = 'up';
    clearTimeout(timer);
    beatLater();
    plan.onUp();
  };

  timer = setTimeout(() => end('connect timeout'), plan.connectTimeoutMs);
  client.on('error', (error: unknown) => end(failureName(error)));
  void client
    .connect()
    .then(() => plan.prepare(client))
    .then(becomeUp, (error: unknown) => end(failureName(error)))
    // A client that is destroyed while its socket is still connecting does not notice it, and must be destroyed again.
    .finally(() => state === 'over' && client.destroy());
  return { ended, current: () => (state === 'up' ? client : undefined), end };
};

const isAlive = (client: RedisClient, plan: ConnectionPlan): Promise<boolean> =>
  settledWithin(plan.beat(client), plan.connectTimeoutMs);
