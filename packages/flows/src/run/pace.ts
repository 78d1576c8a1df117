import { type Step } from '../plan';
import { FlowFault, type RunOptions } from './outcome';

const MAX_STEPS = 1_000_000;
/** Maximum items of one loop that wait for answers at once. */
export const PARALLEL_ITEMS = 8;
/** Steps between two checks of the time; a rule counts as several, since it may take long. */
const WORK_PER_LOOK = 128;
const WORK_OF_RULE = 32;

/** Counts the steps of a run, and decides when it must yield. */
export class Pace {
  steps = 0;
  /** Steps since the last check of the time. */
  private work = 0;
  private readonly maxSteps: number;

  constructor(private readonly options: Pick<RunOptions, 'maxSteps' | 'mayGoOn'>) {
    this.maxSteps = options.maxSteps ?? MAX_STEPS;
  }

  /** Counts a step. Throws if the run exceeds its maximum. */
  countStep({ kind }: Step): void {
    this.steps += 1;
    this.work += kind === 'rule' || kind === 'origin' ? WORK_OF_RULE : 1;
    if (this.steps <= this.maxSteps) return;
    const message = `The flow took more than ${this.maxSteps} steps; give its loops fewer items.`;
    throw new FlowFault(message, { reason: 'too_many_steps', limit: this.maxSteps });
  }

  /** Counts a start or continuation of a flow or an item: an item of a loop without nodes is work, too. */
  countFrame(): void {
    this.work += 1;
  }

  /** Counts a piece of work that takes long. */
  countPiece(): void {
    this.work = WORK_PER_LOOK;
  }

  get isTimeToLook(): boolean {
    return this.work >= WORK_PER_LOOK;
  }

  /** Whether the run may continue without yielding. */
  mayGoOn(): boolean {
    if (!this.isTimeToLook) return true;
    this.work = 0;
    return this.options.mayGoOn?.() !== false;
  }
}
