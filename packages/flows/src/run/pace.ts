import { type Step } from '../plan';
import { FlowFault, type RunOptions } from './outcome';

const MAX_STEPS = 1_000_000;
/** Items of one loop that wait for answers at once. */
export const PARALLEL_ITEMS = 8;
/** Work between two looks at the time, in steps; a rule is worth several, since it may take long itself. */
const WORK_PER_LOOK = 128;
const WORK_OF_RULE = 32;

/** Counts the steps of a run, and says when others are to run. */
export class Pace {
  steps = 0;
  /** Work since the last look at the time. */
  private work = 0;
  private readonly maxSteps: number;

  constructor(private readonly options: Pick<RunOptions, 'maxSteps' | 'mayGoOn'>) {
    this.maxSteps = options.maxSteps ?? MAX_STEPS;
  }

  /** A step begins. Throws where the run has taken too many. */
  countStep({ kind }: Step): void {
    this.steps += 1;
    this.work += kind === 'rule' || kind === 'origin' ? WORK_OF_RULE : 1;
    if (this.steps <= this.maxSteps) return;
    const message = `The flow took more than ${this.maxSteps} steps; give its loops fewer items.`;
    throw new FlowFault(message, { reason: 'too_many_steps', limit: this.maxSteps });
  }

  /** The steps of a flow or of an item begin or go on: an item of a loop without nodes is work, too. */
  countFrame(): void {
    this.work += 1;
  }

  /** A piece of work that takes long has been done. */
  countPiece(): void {
    this.work = WORK_PER_LOOK;
  }

  get isTimeToLook(): boolean {
    return this.work >= WORK_PER_LOOK;
  }

  /** Whether the run may go on at once. */
  mayGoOn(): boolean {
    if (!this.isTimeToLook) return true;
    this.work = 0;
    return this.options.mayGoOn?.() !== false;
  }
}
