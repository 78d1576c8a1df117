import { type ServerResponse } from 'node:http';
import { once } from 'node:events';

/** How long a client may take nothing of an answer that waits for it, ms. */
const STALLED_MS = 60_000;

/**
 * Writes bytes and resolves when the client has taken enough of them for more. Rejects with the reason of the signal when the client goes
 * away; a client that takes nothing for a minute is cut off.
 */
export const writeSlowly = async (
  response: ServerResponse,
  bytes: Buffer | string,
  signal: AbortSignal,
): Promise<void> => {
  signal.throwIfAborted();
  if (response.write(bytes)) return;
  const timer = setTimeout(() => response.destroy(), STALLED_MS);
  try {
    await once(response, 'drain', { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
  }
};
