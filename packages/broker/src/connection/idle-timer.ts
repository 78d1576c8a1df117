import { version } from 'kafkajs/package.json';
import { KNOWN_VERSION } from './replace-protocol';

const patched = Symbol.for('@decision/broker: request queues do not poll');

/** Parts of the library's request queue that this package replaces; replace-protocol.ts replaces its produce and fetch requests. */
interface PatchableQueue {
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests(): void;
  [patched]?: true;
}

// eslint-disable-next-line @typescript-eslint/no-require-imports -- a private module has no types to import
const { prototype: queue } = require('kafkajs/src/network/requestQueue') as { readonly prototype: PatchableQueue };

/**
 * Stops the timer that each connection of the client library otherwise re-arms every millisecond for ever (about 4 % of a CPU
 * when idle). A queue that holds nothing needs no check: the library schedules one whenever it queues a request.
 *
 * Safe to call many times. Returns whether the patch is in place.
 */
export const quietenIdleConnections = (installedVersion: string = version): boolean => {
  if (installedVersion !== KNOWN_VERSION) return false;
  if (queue[patched]) return true;
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called below with the queue it is called on
  const schedule = queue.scheduleCheckPendingRequests;
  queue.scheduleCheckPendingRequests = function (this: PatchableQueue): void {
    if (this.pending.length > 0) schedule.call(this);
  };
  queue[patched] = true;
  return true;
};
