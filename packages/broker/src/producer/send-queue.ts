import { Fifo } from '../fifo';
import type { OutgoingMessage, Settled } from './producer';

/** A message and what has happened to it. */
export interface QueuedMessage {
  readonly message: OutgoingMessage;
  readonly bytes: number;
  /** Called at most once: it is cleared when it has been. */
  settled: Settled | undefined;
  /** How many sends of it have failed. */
  failures: number;
  /** Send it with no other: it is suspected of spoiling the batches it is in. */
  alone: boolean;
}

export const bytesOf = (items: readonly QueuedMessage[]): number => items.reduce((sum, { bytes }) => sum + bytes, 0);

/** Bounds of one send. */
interface BatchLimits {
  readonly messages: number;
  readonly bytes: number;
}

/** A first-in, first-out queue that knows its size in bytes and from which batches are taken. */
export class SendQueue {
  private queued = new Fifo<QueuedMessage>();
  private held = 0;

  get length(): number {
    return this.queued.length;
  }

  get bytes(): number {
    return this.held;
  }

  push(item: QueuedMessage): void {
    this.queued.push(item);
    this.held += item.bytes;
  }

  /** Puts messages back in front, in their order. */
  putBack(items: readonly QueuedMessage[]): void {
    this.queued = new Fifo([...items, ...this.queued.all()]);
    this.held += bytesOf(items);
  }

  /** Takes the next batch: at least one message, then as many as the limits allow. A message marked alone is a batch. */
  take(limits: BatchLimits): QueuedMessage[] {
    const batch: QueuedMessage[] = [];
    let bytes = 0;
    for (let next = this.queued.peek(); next && batch.length < limits.messages; next = this.queued.peek()) {
      if (batch.length > 0 && (next.alone || bytes + next.bytes > limits.bytes)) break;
      this.queued.shift();
      batch.push(next);
      bytes += next.bytes;
      if (next.alone) break;
    }
    this.held -= bytes;
    return batch;
  }

  /** Removes and returns every message that the test picks. */
  remove(picks: (item: QueuedMessage) => boolean): QueuedMessage[] {
    const removed: QueuedMessage[] = [];
    const left: QueuedMessage[] = [];
    for (const item of this.queued.all()) (picks(item) ? removed : left).push(item);
    if (removed.length === 0) return removed;
    this.queued = new Fifo(left);
    this.held -= bytesOf(removed);
    return removed;
  }
}
