import { type RuleOutcome } from '@decision/engine';
import { isMissing } from '@decision/values';
import { type FlowPlan, type Step } from '../plan';
import { combineLoop } from './aggregate';
import { answerOf, briefAnswerOf, membersOf } from './answer';
import { type Call, Calls } from './calls';
import { byOrder, Endings, type FailedStep, failureOfAnswer } from './endings';
import { Activation, Frame, LoopState, RAN, SKIPPED, STARTED, WAITING } from './frame';
import { evaluateHere, type FlowEnd, FlowFault, type FlowOutcome, type RunOptions } from './outcome';
import { Pace, PARALLEL_ITEMS } from './pace';
import { given, LongWork } from './pieces';
import { FrameStack } from './stack';
import { type Note, Trace, type TraceEntry } from './trace';
import { asObject, checkOutputs, collect, gather, isOpen } from './values';

type Input = Readonly<Record<string, unknown>>;

/**
 * One evaluation of a flow, as a state machine that can pause after each step.
 *
 * Runnable frames are on a stack; the top frame runs its steps in order. A step that starts other steps (a loop, a subflow) pushes their
 * frame. After a step that reaches out, its frame continues with steps that do not depend on the answer. A frame that can only wait leaves
 * the stack, and returns with the answer.
 *
 * An exit or a failure ends an evaluation early. Nothing after it in evaluation order begins any more. It takes effect once everything
 * before it has ended, since an earlier ending may still come. So the order in which calls are answered never matters (FL-84).
 */
export class Evaluation {
  outcome: FlowOutcome | undefined;

  private readonly stack = new FrameStack();
  /** Frames whose next step or item comes after an ending that has not taken effect. */
  private readonly held = new Set<Frame>();
  private readonly calls = new Calls();
  private readonly trace: Trace | undefined;
  private readonly endings = new Endings();
  private readonly long = new LongWork();
  private readonly pace: Pace;

  constructor(
    plan: FlowPlan,
    input: Input,
    private readonly options: RunOptions,
  ) {
    this.pace = new Pace(options);
    this.trace = options.trace === undefined ? undefined : new Trace(options.trace.clock);
    this.stack.queue(new Activation(plan, input, undefined, 0).root);
  }

  /** Runs until the outcome is known, until it must wait for answers, or until it must yield. */
  advance(): 'done' | 'waiting' | 'paused' {
    while (this.outcome === undefined) {
      if (this.long.goOn()) this.pace.countPiece();
      else {
        this.calls.takeOver();
        const frame = this.stack.top;
        if (frame !== undefined) this.runFrame(frame);
        else if (!this.endEarly()) return 'waiting';
      }
      if (!this.pace.mayGoOn()) return 'paused';
    }
    this.calls.giveUp();
    return 'done';
  }

  /** Resolves when a call is answered, or when the evaluation must end. */
  answered(): Promise<void> {
    return this.calls.answered();
  }

  /** Wakes the waiting evaluation so that it checks the signal. */
  wake(): void {
    this.calls.wakeUp();
  }

  /** Aborts every call and ends the evaluation. */
  giveUp(): void {
    this.calls.giveUp();
  }

  /** Runs the steps of the top frame, until another frame is on top or it is time to check the clock. */
  private runFrame(frame: Frame): void {
    const { steps, reachesOut } = frame.scope;
    this.pace.countFrame();
    if (frame.isIdle) {
      this.stack.park(frame);
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
        this.stack.park(frame);
        this.held.add(frame);
        return;
      }
      this.attempt(frame, step, index);
      if (this.stack.top !== frame || this.pace.isTimeToLook || this.long.isUnderWay) return;
    }
    this.stack.park(frame);
    if (frame.left === 0) this.complete(frame);
  }

  /** Runs a step; an error that it throws fails the flow. */
  private attempt(frame: Frame, step: Step, index: number): void {
    try {
      this.pace.countStep(step);
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
        return this.combine(frame, step, index);
      case 'result':
        return this.give(frame, step, index, values);
      case 'subflow':
        return this.beginSubflow(frame, step, index, asObject(step.inputs, values));
      case 'outside':
        return this.ask(frame, step, index, asObject(step.inputs, values), began);
    }
  }

  private combine(frame: Frame, step: Step & { kind: 'aggregate' }, index: number): void {
    frame.states[index] = STARTED;
    this.long.begin(
      combineLoop(step, frame),
      (combined) => (combined ? this.ran(frame, step, index, combined) : this.skip(frame, step, index, 'inputs')),
      (error) => this.fail(frame, step, index, error),
    );
  }

  private evaluate(
    frame: Frame,
    step: Step & { kind: 'origin' | 'rule' },
    index: number,
    input: Input,
    began: number,
  ): void {
    const { evaluate = evaluateHere, now } = this.options;
    const outcome = evaluate(step.rule, input, now);
    if (!(outcome instanceof Promise)) return this.decided(frame, step, index, outcome, this.noted(input, began));
    this.later(frame, step, index, {
      ask: () => outcome,
      answered: (answer) => this.decided(frame, step, index, answer, this.noted(input, began)),
      refused: (error) => this.fail(frame, step, index, error),
    });
  }

  private noted(inputs: unknown, began: number): Note | undefined {
    return this.trace && { inputs, duration_ms: this.trace.clock() - began };
  }

  private decided(frame: Frame, step: Step, index: number, outcome: RuleOutcome, note: Note | undefined): void {
    if (!outcome.ok) throw new FlowFault(outcome.error.message, { ...outcome.error.details, row: outcome.error.row });
    this.ran(frame, step, index, outcome.output, note && { ...note, matched: outcome.matched });
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
      loop.begin(item);
      frames.push(item);
    }
    // The first item is on top.
    for (const item of frames.reverse()) this.stack.queue(item);
  }

  private beginSubflow(frame: Frame, step: Step & { kind: 'subflow' }, index: number, inputs: Input): void {
    frame.states[index] = STARTED;
    const kept = step.kept && this.options.keep?.({ node: step.kept, inputs });
    const begin = (): void => this.stack.queue(new Activation(step.flow, inputs, frame, index, kept).root);
    if (kept === undefined) return begin();
    const answered = (outputs: Input | undefined): void =>
      outputs === undefined ? begin() : this.ran(frame, step, index, outputs, { inputs, cached: true });
    this.later(frame, step, index, { ask: () => kept.read(), answered, refused: begin });
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
    // If nothing answers later, everything before the exit has ended.
    if (!activation.plan.reachesOut) this.leave(activation);
  }

  private ask(frame: Frame, step: Step & { kind: 'outside' }, index: number, inputs: Input, began: number): void {
    const { call } = this.options;
    if (call === undefined) {
      const message = `Nodes of type ${step.node.type} cannot be run here.`;
      throw new FlowFault(message, { reason: 'not_available' }, 'infrastructure_error');
    }
    let cached: Pick<Note, 'cached'> = {};
    const note = (): Note => ({ ...this.noted(inputs, began), ...cached });
    const request = { node: step.node, path: frame.pathOf(step), indexes: frame.indexes, inputs };
    this.later(frame, step, index, {
      ask: (ports) => call({ ...request, ...ports, onCached: () => (cached = { cached: true }) }),
      answered: (outputs) => {
        checkOutputs(step.outputs, outputs);
        this.ran(frame, step, index, outputs, note());
      },
      refused: (error) => this.refuse(frame, step, index, error, note()),
    });
  }

  /** Starts a call that answers later. An error in handling its answer fails the step. */
  private later<T>(frame: Frame, step: Step, index: number, call: Pick<Call<T>, 'ask' | 'answered' | 'refused'>): void {
    frame.states[index] = STARTED;
    const then =
      <A>(act: (answer: A) => void) =>
      (answer: A): void => {
        try {
          act(answer);
        } catch (error) {
          this.fail(frame, step, index, error);
        }
        this.resume(frame);
      };
    this.calls.begin({ frame, index, ask: call.ask, answered: then(call.answered), refused: then(call.refused) });
  }

  /** FL-83. */
  private refuse(frame: Frame, step: Step & { kind: 'outside' }, index: number, error: unknown, note: Note): void {
    const { onError, defaultOutputs } = step.node;
    if (onError === 'fail') this.fail(frame, step, index, error);
    else if (onError === 'default') this.ran(frame, step, index, defaultOutputs, { ...note, reason: 'error' });
    else this.skip(frame, step, index, 'error');
  }

  /** Resumes a frame, since one of its steps has ended. */
  private resume(frame: Frame): void {
    // If nothing answers later, steps end in order.
    if (frame.scope.reachesOut) frame.next = 0;
    this.held.delete(frame);
    this.stack.queue(frame);
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

  /** Records a failure. Its step, and so its frame, never ends. */
  private fail(frame: Frame, step: FailedStep, index: number, error: unknown): void {
    frame.states[index] = STARTED;
    this.trace?.add(frame, step, { status: 'failed' });
    this.endings.addFailure(frame, step, index, error);
  }

  /** Handles a frame whose steps have all ended. */
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

  /** Starts the next item of a loop in the frame of one that has ended, or ends the loop. */
  private goOnWithLoop(frame: Frame): void {
    const { parent, parentStep } = frame;
    const step = parent?.scope.steps[parentStep];
    if (parent === undefined || step === undefined) return;
    const loop = parent.values[parentStep] as LoopState; // only called with frames of items
    frame.isIdle = false;
    if (loop.next < loop.items.length) {
      frame.isIdle = this.endings.areBefore(parent, parentStep, loop.next);
      if (frame.isIdle) {
        this.held.add(frame);
        return;
      }
      loop.begin(frame);
      this.stack.queue(frame);
    } else if (loop.active === 0) {
      this.ran(parent, step, parentStep, loop);
      this.resume(parent);
    }
  }

  /** Ends an activation at its last step or its exit. */
  private finish(activation: Activation, then?: () => void): void {
    const { parent, parentStep } = activation.root;
    const step = parent?.scope.steps[parentStep];
    this.endings.forget(activation);
    this.calls.leave(activation);
    const brief = briefAnswerOf(activation);
    if (brief !== undefined && parent === undefined) return this.conclude({ ok: true, output: brief });
    const end = (answer: Readonly<Record<string, unknown>>): void => {
      if (parent === undefined || step === undefined) return this.conclude({ ok: true, output: answer });
      if (step.kind === 'subflow') checkOutputs(step.outputs, answer);
      activation.kept?.write(answer);
      this.ran(parent, step, parentStep, answer);
      this.resume(parent);
      then?.();
    };
    this.long.begin(brief === undefined ? answerOf(activation) : given(brief), end, (error) => {
      if (parent === undefined || step === undefined)
        return this.conclude({ ok: false, error: failureOfAnswer(error) });
      this.fail(parent, step, parentStep, error);
      then?.();
    });
  }

  private conclude(end: FlowEnd): void {
    const { trace, calls } = this;
    const { steps } = this.pace;
    const outcome = end.ok
      ? { ok: end.ok, output: end.output, steps, notifications: calls.notifications }
      : { ok: end.ok, error: end.error, steps };
    this.outcome = trace === undefined ? outcome : { ...outcome, trace: trace.shown };
  }

  /** No frame can run. Lets the first ending without earlier pending answers take effect; false if there is none. */
  private endEarly(): boolean {
    const ending = this.endings.first((order, activation) => this.calls.waitBefore(order, activation));
    if (ending === undefined) return false;
    if (ending instanceof Activation) this.leave(ending);
    else this.conclude({ ok: false, error: ending });
    return true;
  }

  /** Ends an activation by its exit: its other work is dropped, and frames held back for it resume. */
  private leave(activation: Activation): void {
    const isInside = (frame: Frame): boolean => frame.isInside(activation);
    this.stack.drop(isInside);
    for (const frame of this.held) if (isInside(frame)) this.held.delete(frame);
    this.endings.forgetInside(activation);
    this.finish(activation, () => {
      // The first in evaluation order is on top.
      const held = [...this.held].map((frame) => ({ frame, order: frame.orderOf(frame.next) })).sort(byOrder);
      this.held.clear();
      for (const { frame } of held.reverse()) this.stack.queue(frame);
    });
  }
}
