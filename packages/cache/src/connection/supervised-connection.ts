import { backOffMs } from './back-off';
import { failureName, type RedisClient } from './redis-client';
import { LATE, settleWithin } from './settle-within';

/** How one connection is made, proved and kept. */
export interface ConnectionPlan {
  /** A new client, not yet connected. */
  readonly open: () => RedisClient;
  /** Proves that the connection can do its work; only then is it up. */
  readonly prepare: (client: RedisClient) => Promise<unknown>;
  /** Asks for a sign of life. Any answer is one, an error too. */
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
 * waiting -> opening -> up -> waiting ...: a session is one client, from its making to its end. It ends when it is not up
 * within `connectTimeoutMs`, when its socket fails, when a heartbeat stays unanswered as long, or by `recycle` or `close`.
 */
export interface SupervisedConnection {
  /** The client, while it is up. */
  current(): RedisClient | undefined;
  /** Ends the present session; a new one begins after a back-off. */
  recycle(reason: string): void;
  close(): Promise<void>;
}

/** A session that lasted this long was sound: the next back-off starts from the shortest. */
const SOUND_SESSION_MS = 5_000;

export const superviseConnection = (plan: ConnectionPlan): SupervisedConnection => {
  let isClosed = false;
  let session: Session | undefined;
  let stopWaiting: () => void = () => undefined;

  const wait = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      stopWaiting = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const run = async (): Promise<void> => {
    let attempt = 0;
    let isReported = false;
    while (!isClosed) {
      const startedAt = performance.now();
      session = startSession(plan);
      const { reason, wasUp } = await session.ended;
      if (isClosed) return;
      if (wasUp || !isReported) plan.onDown(reason);
      isReported = true;
      if (wasUp && performance.now() - startedAt >= SOUND_SESSION_MS) attempt = 0;
      await wait(backOffMs(attempt, Math.random()));
      attempt += 1;
    }
  };
  const running = run();

  return {
    current: () => session?.current(),
    recycle: (reason) => session?.end(reason),
    close: async () => {
      isClosed = true;
      session?.end('closed');
      stopWaiting();
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
    // A client that is destroyed while its socket is still connecting does not notice, and must be told again.
    .finally(() => state === 'over' && client.destroy());
  return { ended, current: () => (state === 'up' ? client : undefined), end };
};

const isAlive = async (client: RedisClient, plan: ConnectionPlan): Promise<boolean> => {
  const answer = plan.beat(client).catch(() => undefined);
  return (await settleWithin(answer, plan.connectTimeoutMs)) !== LATE;
};
