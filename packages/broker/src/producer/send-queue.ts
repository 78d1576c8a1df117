import { Fifo } from '../fifo';
import type { OutgoingMessage, Settled } from './producer';

/** A message and its state. */
export interface QueuedMessage {
  readonly message: OutgoingMessage;
  readonly bytes: number;
  /** Called at most once, and then cleared. */
  settled: Settled | undefined;
  /** Number of its failed sends. */
  failures: number;
  /** How many of them were outages: brokers were away, or could not store anything. */
  outages: number;
  /** Send it in a batch of its own: it is suspected of spoiling its batches. */
  alone: boolean;
}

export const bytesOf = (items: readonly QueuedMessage[]): number => items.reduce((sum, { bytes }) => sum + bytes, 0);

/** Bounds of one send. */
interface BatchLimits {
  readonly messages: number;
  readonly bytes: number;
}

/** A first-in, first-out queue that knows its size in bytes and hands out batches. */
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

  /** Takes the next batch: at least one message, and as many as the limits allow. A message marked alone is a batch by itself. */
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

  /** Removes and returns every message that matches. */
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
