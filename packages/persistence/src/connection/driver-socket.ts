import { type Socket } from 'node:net';
import { type Client } from 'pg';

/** The socket of a client; undefined before it connects. The driver has it in a field that its types do not declare. */
const socketOf = (client: Client): Socket | undefined =>
  (client as unknown as { readonly connection?: { readonly stream?: Socket } }).connection?.stream;

/** The driver leaves a socket half open if the server does not support TLS, one per attempt, or does not answer. */
export const destroySocket = (client: Client): void => {
  socketOf(client)?.destroy();
};

/**
 * Sends what the client writes in this turn of the event loop in one piece, at the end of the turn: a write costs as much as a short statement,
 * and each wakes the server's process (docs/adr/0084-a-turns-statements-are-one-write.md).
 */
export const gatherWrites = (client: Client): void => {
  const socket = socketOf(client);
  if (socket === undefined || socket.writableCorked > 0) return;
  socket.cork();
  process.nextTick(() => socket.uncork());
};
