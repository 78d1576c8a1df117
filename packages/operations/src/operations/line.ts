import { setTimeout as pause } from 'node:timers/promises';
import { ServiceError } from '@decision/contracts';
import {
  type Database,
  findTurns,
  findWaitingCircle,
  renewTickets,
  returnTickets,
  takeTickets,
  type Transaction,
} from '@decision/persistence';
import { type ContextInUse, contextNotFound } from '../definitions/context-directory';
import { askingOperation, type RequestOrigin } from './work';

export interface LineSettings {
  /** Requests that may wait for one instance; further ones are answered 429. */
  readonly mostWaiting: number;
  /** Lifetime of a ticket without renewal, ms. */
  readonly ticketLeaseMs: number;
  readonly onEvent?: (event: LineEvent) => void;
}

/** Events of queues, for metrics. Each start of a wait is followed by its end. */
export type LineEvent =
  | { readonly type: 'wait_began' }
  /** For any reason: its turn came, the deadline passed, or it gave way. */
  | { readonly type: 'wait_ended'; readonly waitedMs: number }
  /** An operation gave way, since operations in a circular wait would wait until their deadlines. */
  | { readonly type: 'gave_way' };

/** First and longest wait between two checks of a queue, ms. */
const FIRST_LOOK_MS = 2;
const LONGEST_LOOK_MS = 50;
/** Time between two searches for circular waits of operations, ms. */
const CIRCLE_LOOK_MS = 250;

/**
 * The tickets of one request in the queues of busy instances (C143 to C146). Tickets are in the database, so that processes share a queue;
 * they have a lease, so that a dead process does not block it.
 */
export class Line {
  private taken = false;
  private renewedAt = 0;
  private lookMs = FIRST_LOOK_MS;
  private circleSoughtAt = 0;

  constructor(
    private readonly database: Database,
    private readonly context: ContextInUse,
    private readonly origin: RequestOrigin,
    private readonly settings: LineSettings,
    private readonly ownId: string,
  ) {}

  /** Undefined before the first wait. */
  get ticketId(): string | undefined {
    return this.taken ? this.ownId : undefined;
  }

  /**
   * Waits until at least one of these instances is free and this request is the first in its queue; answers those instances. Throws
   * `overloaded` if a queue is full, `context_not_found` if the context has been deleted, `infrastructure_error` if the calling operation
   * gives way to another one that waits for it, and `deadline_exceeded`.
   */
  async wait(instanceIds: readonly string[]): Promise<readonly string[]> {
    if (!this.taken) await this.take(instanceIds);
    const begunAt = performance.now();
    this.settings.onEvent?.({ type: 'wait_began' });
    try {
      return await this.turn(instanceIds);
    } finally {
      this.settings.onEvent?.({ type: 'wait_ended', waitedMs: performance.now() - begunAt });
    }
  }

  private async turn(instanceIds: readonly string[]): Promise<readonly string[]> {
    for (;;) {
      if (!this.taken) await this.take(instanceIds);
      if (Date.now() >= this.origin.deadline) throw tooLate(instanceIds);
      if (this.origin.signal?.aborted === true) throw abandoned();
      const turns = (await this.look(instanceIds.length)).filter((id) => instanceIds.includes(id));
      if (turns.length > 0) {
        this.lookMs = FIRST_LOOK_MS;
        return turns;
      }
      await this.requireNoCircle(instanceIds);
      await pause(Math.min(this.lookMs, Math.max(0, this.origin.deadline - Date.now())));
      this.lookMs = Math.min(this.lookMs * 2, LONGEST_LOOK_MS);
    }
  }

  /** Only operations can wait in a circle: a request holds nothing while it waits. */
  private async requireNoCircle(instanceIds: readonly string[]): Promise<void> {
    const operationId = askingOperation(this.origin);
    if (operationId === undefined || Date.now() - this.circleSoughtAt < CIRCLE_LOOK_MS) return;
    this.circleSoughtAt = Date.now();
    const asked = { operationId, contextId: this.context.id, instanceIds };
    const circle = await this.database.inWorkspace(this.origin.access, (transaction) =>
      findWaitingCircle(transaction, asked),
    );
    if (circle?.givesWay !== true) return;
    this.settings.onEvent?.({ type: 'gave_way' });
    throw givesWay(this.context.slug, circle.instanceId);
  }

  /** Leaves every queue. Idempotent; tickets that cannot be returned expire. */
  async leave(): Promise<void> {
    if (!this.taken) return;
    this.taken = false;
    await this.database
      .inWorkspace(this.origin.access, (transaction) => returnTickets(transaction, this.ownId))
      .catch(() => undefined);
  }

  private async take(instanceIds: readonly string[]): Promise<void> {
    const { mostWaiting: most, ticketLeaseMs: leaseMs } = this.settings;
    const hasPlace = await this.database.inWorkspace(this.origin.access, async (transaction) => {
      await this.findTurns(transaction);
      return takeTickets(transaction, this.context.id, instanceIds, {
        ...{ ticketId: this.ownId, leaseMs, most, forOperation: askingOperation(this.origin) },
      });
    });
    if (!hasPlace) throw tooLong(most);
    this.taken = true;
    this.renewedAt = Date.now();
  }

  /** If this process was silent for so long that its tickets expired, it goes to the end of the queue. */
  private look(places: number): Promise<readonly string[]> {
    const { ticketLeaseMs: leaseMs } = this.settings;
    const renews = Date.now() - this.renewedAt > leaseMs / 3;
    return this.database.inWorkspace(this.origin.access, async (transaction) => {
      if (renews) {
        const kept = await renewTickets(transaction, { ticketId: this.ownId, leaseMs });
        this.renewedAt = Date.now();
        if (kept < places) {
          await returnTickets(transaction, this.ownId);
          this.taken = false;
          return [];
        }
      }
      return this.findTurns(transaction);
    });
  }

  private async findTurns(transaction: Transaction): Promise<readonly string[]> {
    const turns = await findTurns(transaction, this.context.id, this.ownId);
    if (turns === undefined) throw contextNotFound(this.context.slug);
    return turns;
  }
}

const tooLate = (instanceIds: readonly string[]): ServiceError =>
  new ServiceError(
    'deadline_exceeded',
    'Earlier operations held the instances until the deadline of this request had passed.',
    { instance_ids: instanceIds.slice(0, 100) },
  );

const givesWay = (slug: string, instanceId: string): ServiceError =>
  new ServiceError(
    'infrastructure_error',
    `The instance "${slug}:${instanceId.slice(0, 100)}" is held by an operation that waits for the requesting one; the younger of the two gives way. Send the request again, or do not let flows write instances of each other.`,
    { context: slug },
  );

const abandoned = (): ServiceError => new ServiceError('deadline_exceeded', 'The caller no longer waits for this.');

const tooLong = (most: number): ServiceError =>
  new ServiceError('overloaded', `${most} requests wait for one of these instances already; send fewer at once.`, {
    retry_after_seconds: 1,
  });
