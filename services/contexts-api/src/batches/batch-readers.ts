import { type ContextCascadeSummary, ServiceError } from '@decision/contracts';
import { type InstanceOutcome } from '../operations/work';
import { Summaries } from '../readers/summaries';
import { ChangedInstances, tellReadersOf } from '../readers/tell-readers';
import { type BatchWork } from './carry-out-chunk';

/** Bound of the data about changed instances whose readers are still to be told, bytes: enough for some 100,000. */
const MOST_BYTES = 32 * 1024 * 1024;

/**
 * The readers of everything that a batch changes. They are told when all of it is merged, so that each is evaluated once for the batch (C112); of a
 * batch that changes more than can be held, once for each part that can.
 */
export class BatchReaders {
  private changed = new ChangedInstances();
  private readonly summaries = new Summaries();
  private telling: Promise<void> = Promise.resolve();

  constructor(
    private readonly work: BatchWork,
    private readonly mostBytes = MOST_BYTES,
  ) {}

  /** Notes what was changed. Resolves at once as long as there is room, else when the readers of what was held have been told. */
  async add(outcomes: Iterable<InstanceOutcome>): Promise<void> {
    for (const outcome of outcomes) this.changed.add(outcome);
    if (this.changed.bytes > this.mostBytes) await this.tell();
  }

  /** Tells the readers of all that was noted. */
  tell(): Promise<void> {
    const { changed } = this;
    const { context, origin } = this.work;
    this.changed = new ChangedInstances();
    const before = this.telling.catch(() => undefined); // told to the client that sent that part
    this.telling = before.then(() => tellReadersOf(context, origin, changed, this.summaries));
    return this.telling;
  }

  /** Tells the readers of the instances that a failed batch changed, as far as possible. The client's retry tells the others. */
  async tellOfPart(outcomes: Iterable<InstanceOutcome> = []): Promise<void> {
    try {
      await this.add(outcomes);
      await this.tell();
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
    }
  }

  /** Outcome of the readers so far, as far as the caller sees them. */
  cascaded(): readonly ContextCascadeSummary[] {
    return this.work.definition.view.summaries(this.summaries.list());
  }
}
