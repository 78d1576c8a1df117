import { type Server, type ServerResponse } from 'node:http';
import { type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** How a server stops without losing a request. */
export interface Drain {
  draining(): boolean;
  /** Must be called for every response when its request arrives, and {@link ended} when it is closed. */
  began(response: ServerResponse): void;
  ended(response: ServerResponse): void;
  /**
   * Resolves when no connection is open; those still open after `drainMs` are closed. New connections are still accepted for the first
   * `graceMs`, since load balancers notice the end with a delay. Idempotent.
   */
  run(drainMs: number, graceMs: number): Promise<void>;
}

/**
 * How long idle kept-alive connections stay open after draining began. A client may be sending on one right now: such a request is still
 * served, and its answer closes the connection. Counted in polls, between which sockets are read, and not in time: a process that was busy
 * for that long would close connections with a pending request.
 */
const IDLE_GRACE_MS = 500;
const POLL_MS = 50;
const IDLE_GRACE_POLLS = IDLE_GRACE_MS / POLL_MS;
/** The poll at which the listener closes. The kernel then resets connections that the process has not accepted yet. */
const LAST_ACCEPTING_POLL = 2;

export const createDrain = (server: Server): Drain => {
  const open: Open = { inFlight: new Set(), sockets: new Set(), endsConnections: false };
  server.on('connection', (socket) => {
    open.sockets.add(socket);
    socket.once('close', () => open.sockets.delete(socket));
  });
  let running: Promise<void> | undefined;
  return {
    draining: () => running !== undefined,
    began: (response) => {
      open.inFlight.add(response);
      if (open.endsConnections) askToClose(response);
    },
    ended: (response) => void open.inFlight.delete(response),
    run: (drainMs, graceMs) => (running ??= drainAfter(graceMs, server, open, drainMs)),
  };
};

interface Open {
  readonly inFlight: Set<ServerResponse>;
  readonly sockets: Set<Socket>;
  /** Whether each response asks its client to close the connection. */
  endsConnections: boolean;
}

/** Node ends the connection after a response that says so. */
const askToClose = (response: ServerResponse): void => {
  if (!response.headersSent) response.setHeader('connection', 'close');
};

const endConnections = (open: Open): void => {
  open.endsConnections = true;
  for (const response of open.inFlight) askToClose(response);
};

const drainAfter = async (graceMs: number, server: Server, open: Open, drainMs: number): Promise<void> => {
  if (graceMs > 0) {
    endConnections(open);
    await sleep(graceMs);
  }
  await drain(server, open, drainMs - graceMs);
};

const drain = async (server: Server, open: Open, drainMs: number): Promise<void> => {
  const startedAt = performance.now();
  const closed = new Promise<void>((resolve) => server.once('close', () => resolve()));
  let polls = 0;
  const poll = setInterval(() => {
    polls += 1;
    const late = performance.now() - startedAt >= drainMs;
    // After the next poll of the sockets, so that hardly any unaccepted connection is left.
    if (late || polls === LAST_ACCEPTING_POLL) setImmediate(stopAccepting, server, open);
    if (late) setImmediate(() => server.closeAllConnections());
    else if (polls >= IDLE_GRACE_POLLS) {
      server.closeIdleConnections();
      closeSilent(open.sockets);
    }
  }, POLL_MS);
  await closed;
  clearInterval(poll);
};

/** Connections that never sent a byte have no request, and Node does not count them as idle. */
const closeSilent = (sockets: ReadonlySet<Socket>): void => {
  for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
};

/**
 * Clients are asked to close their connections only from here on: earlier, they would reconnect just when the listener closes. Idle
 * connections stay for now; `http.Server.close` would end them at once.
 */
const stopAccepting = (server: Server, open: Open): void => {
  endConnections(open);
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => undefined;
  server.close();
  server.closeIdleConnections = closeIdle;
};
