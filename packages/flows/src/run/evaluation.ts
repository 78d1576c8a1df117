import { evaluateRule } from '@decision/engine';
import { isMissing } from '@decision/values';
import { type FlowPlan, type Step } from '../plan';
import { answerOf, membersOf } from './answer';
import { Calls } from './calls';
import { byOrder, Endings, reasonOf } from './endings';
import { Activation, Frame, LoopState, RAN, SKIPPED, STARTED, WAITING } from './frame';
import { FlowFault, type FlowFailure, type FlowOutcome, type RunOptions } from './outcome';
import { Trace, type TraceEntry } from './trace';
import { asObject, checkOutputs, collect, combine, gather, isOpen } from './values';

const MAX_STEPS = 1_000_000;
const PARALLEL_ITEMS = 8;
/** Work between two looks at the time, in steps; a rule is worth several, since it may take long itself. */
const WORK_PER_LOOK = 128;
const WORK_OF_RULE = 32;

/** What a step is known to have become, for the trace. */
type Note = Omit<TraceEntry, 'ref' | 'within' | 'indexes' | 'status'>;

/**
 * One evaluation of a flow, as a machine that can stop after each step and go on later.
 *
 * Frames that can go on stand on a stack; the uppermost runs its steps in their order. A step that begins other steps (a loop, a subflow) puts
 * their frame on top. A step that asks the outside leaves its frame to go on with what does not depend on the answer; a frame with nothing left
 * to do but wait leaves the stack, and comes back with the answer.
 *
 * An exit or a failure ends an evaluation early. Nothing behind it in the order of evaluation begins any more, and it takes effect once everything
 * before it has ended, since that may hold an ending that comes first: so the order in which calls are answered never shows (FL-84).
 */
export class Evaluation {
  outcome: FlowOutcome | undefined;

  private stack: Frame[] = [];
  /** Frames whose next step, or next item, stands behind an ending that has not taken effect. */
  private readonly held = new Set<Frame>();
  private readonly calls = new Calls();
  private readonly trace: Trace | undefined;
  private readonly endings = new Endings();
  private steps = 0;
  /** Work since the last look at the time. */
  private work = 0;

  constructor(
    plan: FlowPlan,
    input: Readonly<Record<string, unknown>>,
    private readonly options: RunOptions,
  ) {
    this.trace = options.trace === undefined ? undefined : new Trace(options.trace.clock);
    this.queue(new Activation(plan, input, undefined, 0).root);
  }

  /** Goes on until the outcome is there, until it must wait for answers, or until others are to run. */
  advance(): 'done' | 'waiting' | 'paused' {
    while (this.outcome === undefined) {
      this.calls.takeOver();
      const frame = this.stack.at(-1);
      if (frame === undefined) {
        if (!this.endEarly()) return 'waiting';
      } else {
        this.runFrame(frame);
        if (this.work >= WORK_PER_LOOK && !this.mayGoOn()) return 'paused';
      }
    }
    this.calls.giveUp();
    return 'done';
  }

  /** Resolves when a call is answered, or when the evaluation is to end. */
  answered(): Promise<void> {
    return this.calls.answered();
  }

  /** Lets whoever waits for an answer look at the signal. */
  readonly wake = (): void => {
    this.calls.wakeUp();
  };

  /** Aborts every call; the evaluation does not go on. */
  giveUp(): void {
    this.calls.giveUp();
  }

  private queue(frame: Frame): void {
    if (frame.isQueued) return;
    frame.isQueued = true;
    this.stack.push(frame);
  }

  /** Takes the uppermost frame from the stack. */
  private park(frame: Frame): void {
    this.stack.pop();
    frame.isQueued = false;
  }

  private mayGoOn(): boolean {
    this.work = 0;
    return this.options.mayGoOn?.() !== false;
  }

  /** Runs the steps of the uppermost frame, until another one is uppermost or it is time to look at the clock. */
  private runFrame(frame: Frame): void {
    const { steps, reachesOut } = frame.scope;
    // An item of a loop without nodes is work, too.
    this.work += 1;
    if (frame.isIdle) {
      this.park(frame);
      return this.goOnWithLoop(frame);
    }
    while (frame.next < steps.length) {
      const index = frame.next;
      const step = steps[index];
      frame.next += 1;
      if (step === undefined || frame.states[index] !== WAITING) continue;
      if (reachesOut && !step.needs.every((other) => (frame.states[other] ?? WAITING) >= RAN)) continue;
      if (this.endings.areBefore(frame, index)) {
        frame.next = index;
        this.park(frame);
        this.held.add(frame);
        return;
      }
      this.steps += 1;
      this.work += step.kind === 'rule' || step.kind === 'origin' ? WORK_OF_RULE : 1;
      this.attempt(frame, step, index);
      if (this.stack.at(-1) !== frame || this.work >= WORK_PER_LOOK) return;
    }
    this.park(frame);
    if (frame.left === 0) this.complete(frame);
  }

  /** Runs a step; what it throws is a failure of the flow. */
  private attempt(frame: Frame, step: Step, index: number): void {
    const { maxSteps = MAX_STEPS } = this.options;
    try {
      if (this.steps > maxSteps) {
        const message = `The flow took more than ${maxSteps} steps; give its loops fewer items.`;
        throw new FlowFault(message, { reason: 'too_many_steps', limit: maxSteps });
      }
      this.runStep(frame, step, index);
    } catch (error) {
      this.fail(frame, step, index, error);
    }
  }

  private runStep(frame: Frame, step: Step, index: number): void {
    if (!isOpen(step.gates, frame)) return this.skip(frame, step, index, 'gate');
    const values = gather(step.inputs, frame);
    if (values === undefined) return this.skip(frame, step, index, 'inputs');
    const began = this.trace?.clock() ?? 0;
    switch (step.kind) {
      case 'origin':
        return this.evaluate(frame, step, index, frame.activation.input, began);
      case 'rule':
        return this.evaluate(frame, step, index, asObject(step.inputs, values), began);
      case 'condition': {
        const { key, holds } = step.condition;
        const position = step.inputs.findIndex((input) => input.key === key);
        if (!holds(values[position], this.options.now)) return this.skip(frame, step, index, 'condition');
        return this.ran(frame, step, index, asObject(step.inputs, values));
      }
      case 'lookup': {
        const value = { value: step.find(values[0]) };
        return this.ran(frame, step, index, value, this.trace && { inputs: asObject(step.inputs, values) });
      }
      case 'loop':
        return this.beginLoop(frame, step, index, values[0]);
      case 'aggregate':
        return this.aggregate(frame, step, index);
      case 'result':
        return this.give(frame, step, index, values);
      case 'subflow': {
        frame.states[index] = STARTED;
        return this.queue(new Activation(step.flow, asObject(step.inputs, values), frame, index).root);
      }
      case 'outside':
        return this.ask(frame, step, index, asObject(step.inputs, values), began);
    }
  }

  private evaluate(
    frame: Frame,
    step: Step & { kind: 'origin' | 'rule' },
    index: number,
    input: Readonly<Record<string, unknown>>,
    began: number,
  ): void {
    const outcome = evaluateRule(step.rule, input, { now: this.options.now });
    if (!outcome.ok) throw new FlowFault(outcome.error.message, { ...outcome.error.details, row: outcome.error.row });
    const { output, matched } = outcome;
    const note = this.trace && { inputs: input, matched, duration_ms: this.trace.clock() - began };
    this.ran(frame, step, index, output, note);
  }

  private beginLoop(frame: Frame, step: Step & { kind: 'loop' }, index: number, list: unknown): void {
    const items = (isMissing(list) ? [] : list) as readonly unknown[]; // its type was checked as that of the input
    const loop = new LoopState(items, step.collectors.length);
    frame.values[index] = loop;
    if (items.length === 0) return this.ran(frame, step, index, loop);
    frame.states[index] = STARTED;
    const parallel = step.body.reachesOut ? (this.options.parallelItems ?? PARALLEL_ITEMS) : 1;
    const frames: Frame[] = [];
    while (loop.next < items.length && frames.length < parallel) {
      const item = new Frame(step.body, frame.activation, frame, index);
      this.nextItem(item, loop);
      frames.push(item);
    }
    // The first item stands uppermost.
    for (const item of frames.reverse()) this.queue(item);
  }

  private nextItem(frame: Frame, loop: LoopState): void {
    frame.reset(loop.items[loop.next], loop.next);
    loop.next += 1;
    loop.active += 1;
  }

  private aggregate(frame: Frame, step: Step & { kind: 'aggregate' }, index: number): void {
    const loopStep = frame.scope.steps[step.loop];
    if (frame.states[step.loop] !== RAN || loopStep?.kind !== 'loop') return this.skip(frame, step, index, 'inputs');
    const loop = frame.values[step.loop] as LoopState; // what a loop that ran has for its value
    const collector = loopStep.collectors[step.collector];
    if (collector === undefined) return this.skip(frame, step, index, 'inputs');
    this.ran(frame, step, index, combine(step.combine, collector, loop.rows[step.collector] ?? []));
  }

  private give(frame: Frame, step: Step & { kind: 'result' }, index: number, values: readonly unknown[]): void {
    const { activation } = frame;
    const plan = activation.plan.results[step.result];
    const members = membersOf(plan?.members ?? [], values);
    const order = frame.orderOf(index);
    activation.given[step.result]?.push({ order, members });
    this.ran(frame, step, index, members, { inputs: members });
    if (plan?.exits !== true) return;
    this.endings.addExit(activation, { order, what: step.result });
    // Where nothing answers later, everything before the exit has ended.
    if (!activation.plan.reachesOut) this.leave(activation);
  }

  private ask(
    frame: Frame,
    step: Step & { kind: 'outside' },
    index: number,
    inputs: Readonly<Record<string, unknown>>,
    began: number,
  ): void {
    const { call } = this.options;
    if (call === undefined) {
      const message = `Nodes of type ${step.node.type} cannot be run here.`;
      throw new FlowFault(message, { reason: 'not_available' }, 'infrastructure_error');
    }
    frame.states[index] = STARTED;
    let cached: Pick<Note, 'cached'> = {};
    const note = (): Note =>
      this.trace === undefined ? {} : { inputs, duration_ms: this.trace.clock() - began, ...cached };
    const request = { node: step.node, path: frame.pathOf(step), indexes: frame.indexes, inputs };
    this.calls.begin({
      ...{ frame, index },
      ask: (signal) => call({ ...request, signal, onCached: () => (cached = { cached: true }) }),
      answered: (outputs) => {
        this.answer(frame, step, index, outputs, note());
        this.resume(frame);
      },
      refused: (error) => {
        this.refuse(frame, step, index, error, note());
        this.resume(frame);
      },
    });
  }

  private answer(frame: Frame, step: Step & { kind: 'outside' }, index: number, outputs: unknown, note: Note): void {
    try {
      checkOutputs(step.outputs, outputs);
      this.ran(frame, step, index, outputs, note);
    } catch (error) {
      this.fail(frame, step, index, error);
    }
  }

  /** FL-83. */
  private refuse(frame: Frame, step: Step & { kind: 'outside' }, index: number, error: unknown, note: Note): void {
    const { onError, defaultOutputs } = step.node;
    if (onError === 'fail') this.fail(frame, step, index, error);
    else if (onError === 'default') this.ran(frame, step, index, defaultOutputs, { ...note, reason: 'error' });
    else this.skip(frame, step, index, 'error');
  }

  /** Looks at a frame again, since a step in it has ended. */
  private resume(frame: Frame): void {
    // Where nothing answers later, steps end in their order.
    if (frame.scope.reachesOut) frame.next = 0;
    this.held.delete(frame);
    this.queue(frame);
  }

  private ran(frame: Frame, step: Step, index: number, value: unknown, note?: Note): void {
    const outputs = value instanceof LoopState ? { items: value.items.length } : value;
    this.trace?.add(frame, step, { status: 'ran', outputs, ...note });
    this.end(frame, index, RAN, value);
  }

  private skip(frame: Frame, step: Step, index: number, reason: NonNullable<TraceEntry['reason']>): void {
    this.trace?.add(frame, step, { status: reason === 'condition' ? 'ran' : 'skipped', reason });
    this.end(frame, index, SKIPPED, undefined);
  }

  private end(frame: Frame, index: number, state: number, value: unknown): void {
    frame.states[index] = state;
    frame.values[index] = value;
    frame.left -= 1;
  }

  /** Notes a failure. Its step never ends, and so its frame does not. */
  private fail(frame: Frame, step: { readonly ref: string }, index: number, error: unknown): void {
    frame.states[index] = STARTED;
    this.trace?.add(frame, step, { status: 'failed' });
    this.endings.addFailure(frame, step, index, error);
  }

  /** Every step of a frame has ended. */
  private complete(frame: Frame): void {
    if (frame.isRoot) return this.finish(frame.activation);
    const { parent, parentStep } = frame;
    const step = parent?.scope.steps[parentStep];
    if (parent === undefined || step?.kind !== 'loop') return;
    const loop = parent.values[parentStep] as LoopState; // a frame within an activation belongs to a loop
    for (const [position, collector] of step.collectors.entries()) {
      try {
        const taken = collect(collector, frame, this.options.now);
        if (taken !== undefined) loop.rows[position]?.push({ index: frame.index, values: taken });
      } catch (error) {
        return this.fail(frame, collector, frame.scope.steps.length, error);
      }
    }
    loop.active -= 1;
    this.goOnWithLoop(frame);
  }

  /** Begins the next item of a loop in the frame of one that has ended, or ends the loop. */
  private goOnWithLoop(frame: Frame): void {
    const { parent, parentStep } = frame;
    const step = parent?.scope.steps[parentStep];
    if (parent === undefined || step === undefined) return;
    const loop = parent.values[parentStep] as LoopState; // only frames of items come here
    frame.isIdle = false;
    if (loop.next < loop.items.length) {
      frame.isIdle = this.endings.areBefore(parent, parentStep, loop.next);
      if (frame.isIdle) {
        this.held.add(frame);
        return;
      }
      this.nextItem(frame, loop);
      this.queue(frame);
    } else if (loop.active === 0) {
      this.ran(parent, step, parentStep, loop);
      this.resume(parent);
    }
  }

  /** An activation has come to its end, or to its exit. */
  private finish(activation: Activation): void {
    const { parent, parentStep } = activation.root;
    const step = parent?.scope.steps[parentStep];
    this.endings.forget(activation);
    try {
      const answer = answerOf(activation);
      if (parent === undefined || step === undefined) return this.conclude({ ok: true, output: answer });
      if (step.kind === 'subflow') checkOutputs(step.outputs, answer);
      this.ran(parent, step, parentStep, answer);
      this.resume(parent);
    } catch (error) {
      if (parent !== undefined && step !== undefined) return this.fail(parent, step, parentStep, error);
      const details = error instanceof FlowFault ? error.details : {};
      const what = { message: reasonOf(error), path: [], indexes: [], details };
      this.conclude({ ok: false, error: { code: 'evaluation_failed', ...what } });
    }
  }

  private conclude(
    end: { ok: true; output: Readonly<Record<string, unknown>> } | { ok: false; error: FlowFailure },
  ): void {
    const { trace, steps } = this;
    const outcome = end.ok ? { ok: end.ok, output: end.output, steps } : { ok: end.ok, error: end.error, steps };
    if (trace === undefined) this.outcome = outcome;
    else this.outcome = { ...outcome, trace: { entries: trace.entries, not_listed: trace.not_listed } };
  }

  /** Nothing can go on. Lets the first ending take effect before which nothing waits for an answer; false where there is none. */
  private endEarly(): boolean {
    const ending = this.endings.first((order, activation) => this.calls.waitBefore(order, activation));
    if (ending === undefined) return false;
    if (ending instanceof Activation) this.leave(ending);
    else this.conclude({ ok: false, error: ending });
    return true;
  }

  /** Ends an activation by its exit: whatever else goes on in it is given up, and what was held back for it goes on. */
  private leave(activation: Activation): void {
    const isInside = (frame: Frame): boolean => frame.isInside(activation);
    while (this.stack.some(isInside)) {
      for (const frame of this.stack) if (isInside(frame)) frame.isQueued = false;
      this.stack = this.stack.filter((frame) => !isInside(frame));
    }
    this.calls.giveUp(isInside);
    for (const frame of this.held) if (isInside(frame)) this.held.delete(frame);
    this.endings.forgetInside(activation);
    this.finish(activation);
    // What comes first in the order of evaluation stands uppermost.
    const held = [...this.held].map((frame) => ({ frame, order: frame.orderOf(frame.next) })).sort(byOrder);
    this.held.clear();
    for (const { frame } of held.reverse()) this.queue(frame);
  }
}
