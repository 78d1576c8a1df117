import { type ServiceError } from '@decision/contracts';
import type { OutgoingMessage } from './outgoing-message';

/** Called once when a message has been acknowledged, or with the reason why it will not be sent. */
export type Settled = (error?: ServiceError) => void;

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
  private items: QueuedMessage[] = [];
  private head = 0;
  private held = 0;

  get length(): number {
    return this.items.length - this.head;
  }

  get bytes(): number {
    return this.held;
  }

  push(item: QueuedMessage): void {
    this.items.push(item);
    this.held += item.bytes;
  }

  /** Puts messages back in front, in their order. */
  putBack(items: readonly QueuedMessage[]): void {
    this.items = [...items, ...this.items.slice(this.head)];
    this.head = 0;
    for (const { bytes } of items) this.held += bytes;
  }

  /** Takes the next batch: at least one message, then as many as the limits allow. A message marked alone is a batch. */
  take(limits: BatchLimits): QueuedMessage[] {
    const batch: QueuedMessage[] = [];
    let bytes = 0;
    while (this.head < this.items.length && batch.length < limits.messages) {
      const next = this.items[this.head] as QueuedMessage; // the loop's condition
      if (batch.length > 0 && (next.alone || bytes + next.bytes > limits.bytes)) break;
      batch.push(next);
      bytes += next.bytes;
      this.head += 1;
      if (next.alone) break;
    }
    this.held -= bytes;
    this.compact();
    return batch;
  }

  /** Removes and returns every message that the test picks. */
  remove(picks: (item: QueuedMessage) => boolean): QueuedMessage[] {
    const removed: QueuedMessage[] = [];
    const left: QueuedMessage[] = [];
    for (let index = this.head; index < this.items.length; index += 1) {
      const item = this.items[index] as QueuedMessage; // the loop's condition
      (picks(item) ? removed : left).push(item);
    }
    if (removed.length === 0) return removed;
    this.items = left;
    this.head = 0;
    for (const { bytes } of removed) this.held -= bytes;
    return removed;
  }

  /** Forgets taken messages once they are most of the array, so that taking is cheap and memory is given back. */
  private compact(): void {
    if (this.head === this.items.length) {
      this.items = [];
      this.head = 0;
    } else if (this.head > 1_024 && this.head * 2 > this.items.length) {
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
  }
}
