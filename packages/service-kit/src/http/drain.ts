import { type Server, type ServerResponse } from 'node:http';
import { type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** How a server stops without losing a request. */
export interface Drain {
  draining(): boolean;
  /** Must be called for every response when its request arrives. */
  track(response: ServerResponse): void;
  /**
   * Resolves when nothing is open any more; what is still open after `drainMs` is cut. For the first `graceMs` of it new connections are still
   * accepted: load balancers learn of the end with a delay. Idempotent.
   */
  run(drainMs: number, graceMs: number): Promise<void>;
}

/**
 * How long kept-alive connections that are idle stay open after draining began. A client may be sending on one right now: such a
 * request is still served, and told to close the connection. Counted in polls, between which sockets are read, and not by the clock: a process
 * that was busy for as long would close what has a request waiting.
 */
const IDLE_GRACE_MS = 500;
const POLL_MS = 50;
const IDLE_GRACE_POLLS = IDLE_GRACE_MS / POLL_MS;
/** The poll at which the listener closes. The kernel resets connections that it has completed and the process has not accepted yet. */
const LAST_ACCEPTING_POLL = 2;

export const createDrain = (server: Server): Drain => {
  const inFlight = new Set<ServerResponse>();
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  let running: Promise<void> | undefined;
  return {
    draining: () => running !== undefined,
    track: (response) => {
      inFlight.add(response);
      response.once('close', () => inFlight.delete(response));
      if (running) askToClose(response);
    },
    run: (drainMs, graceMs) => (running ??= drainAfter(graceMs, server, { inFlight, sockets }, drainMs)),
  };
};

/** Node ends the connection after a response that says so. */
const askToClose = (response: ServerResponse): void => {
  if (!response.headersSent) response.setHeader('connection', 'close');
};

interface Open {
  readonly inFlight: ReadonlySet<ServerResponse>;
  readonly sockets: ReadonlySet<Socket>;
}

const drainAfter = async (graceMs: number, server: Server, open: Open, drainMs: number): Promise<void> => {
  for (const response of open.inFlight) askToClose(response);
  if (graceMs > 0) await sleep(graceMs);
  await drain(server, open, drainMs - graceMs);
};

const drain = async (server: Server, { sockets }: Open, drainMs: number): Promise<void> => {
  const startedAt = performance.now();
  const closed = new Promise<void>((resolve) => server.once('close', () => resolve()));
  let polls = 0;
  const poll = setInterval(() => {
    polls += 1;
    const late = performance.now() - startedAt >= drainMs;
    if (late || polls === LAST_ACCEPTING_POLL) closeListener(server);
    if (late) server.closeAllConnections();
    else if (polls >= IDLE_GRACE_POLLS) {
      server.closeIdleConnections();
      closeSilent(sockets);
    }
  }, POLL_MS);
  await closed;
  clearInterval(poll);
};

/** Connections that never sent a byte carry no request, and Node does not count them as idle. */
const closeSilent = (sockets: ReadonlySet<Socket>): void => {
  for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
};

/** Stops accepting without ending idle connections, which `http.Server.close` would do at once. */
const closeListener = (server: Server): void => {
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => undefined;
  server.close();
  server.closeIdleConnections = closeIdle;
};
