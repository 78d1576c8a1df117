import { setImmediate as nextTurn } from 'node:timers/promises';
import { Fifo } from '../fifo';

/** Most items of one lane in a row while other lanes wait. */
const ITEMS_IN_A_ROW = 32;
/** Longest work before sockets and timers get their turn, ms. */
const SLICE_MS = 5;

interface Lane<T> {
  readonly items: Fifo<T>;
  scheduled: boolean;
}

interface LanesOptions<T> {
  /** Number of lanes that are processed at once. */
  readonly concurrency: number;
  /** Processes one item; must not throw or reject. Its result is awaited before the next item of the lane. */
  readonly run: (item: T) => Promise<void> | undefined;
  /** Called before each item: returns a promise to wait for if there is no room for the item's result. */
  readonly gate: () => Promise<void> | undefined;
}

/** Processes items in order within their lane, several lanes at once, fairly, and yields to the event loop. */
export class Lanes<T> {
  private readonly lanes = new Map<number, Lane<T>>();
  private readonly waiting = new Fifo<Lane<T>>();
  private active = 0;
  private sliceBegan = 0;

  constructor(private readonly options: LanesOptions<T>) {}

  /** Queues an item behind the others of its lane. */
  add(lane: number, item: T): void {
    const target = this.lane(lane);
    target.items.push(item);
    if (!target.scheduled) this.schedule(target);
  }

  private lane(number: number): Lane<T> {
    let lane = this.lanes.get(number);
    if (lane === undefined) this.lanes.set(number, (lane = { items: new Fifo(), scheduled: false }));
    return lane;
  }

  private schedule(lane: Lane<T>): void {
    lane.scheduled = true;
    this.waiting.push(lane);
    if (this.active < this.options.concurrency) {
      this.active += 1;
      void this.work();
    }
  }

  private async work(): Promise<void> {
    for (let lane = this.waiting.shift(); lane !== undefined; lane = this.waiting.shift()) {
      await this.workOn(lane);
      lane.scheduled = false;
      if (lane.items.length > 0) {
        lane.scheduled = true;
        this.waiting.push(lane);
      }
    }
    this.active -= 1;
  }

  private async workOn(lane: Lane<T>): Promise<void> {
    for (let done = 0; done < ITEMS_IN_A_ROW || this.waiting.length === 0; done += 1) {
      const gate = this.options.gate();
      if (gate !== undefined) await gate;
      const item = lane.items.shift();
      if (item === undefined) return;
      const outcome = this.options.run(item);
      if (outcome !== undefined) await outcome;
      const breath = this.breathe();
      if (breath !== undefined) await breath;
    }
  }

  private breathe(): Promise<void> | undefined {
    const now = performance.now();
    if (now - this.sliceBegan < SLICE_MS) return undefined;
    return nextTurn().then(() => {
      this.sliceBegan = performance.now();
    });
  }
}
