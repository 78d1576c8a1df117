import { type QuickJSContext, type QuickJSHandle } from 'quickjs-emscripten-core';
import { asFunction, CodeEngine, isTooDeep, LINES_BEFORE } from './engine';
import { type ProcessorClock } from './processor-clock';

/** Start data of a thread. */
export interface CodeThreadStart {
  /** Memory of each run. */
  readonly memoryBytes: number;
}

/** One run of code. */
export interface CodeJob {
  readonly source: string;
  /** JSON text of an object. */
  readonly inputs: string;
  /** Seed of `Math.random`. */
  readonly seed: number;
  /** Processor time that the code may take, ms; by the clock it may take {@link CLOCK_FACTOR} times as long. */
  readonly runMs: number;
  /** Epoch ms after which its outputs are no longer needed. */
  readonly deadline: number;
  /** Maximum characters of the outputs as JSON. */
  readonly maxOutputLength: number;
}

export type CodeFault =
  | { readonly kind: 'time' | 'memory' | 'depth' | 'unsettled' | 'no_object' }
  | { readonly kind: 'size'; readonly length: number }
  /** `line` counts from 1 and is 0 if unknown. */
  | { readonly kind: 'syntax' | 'thrown'; readonly message: string; readonly line: number };

export interface CodeAnswer {
  /** JSON text of an object; undefined if there is a fault. */
  readonly outputs?: string;
  readonly fault?: CodeFault;
}

/** How many times its processor time a run may take by the clock, since its thread waits on a busy machine. */
export const CLOCK_FACTOR = 10;

/** Maximum characters of an error that code throws. */
const MAX_MESSAGE = 500;

/** Maximum nesting of outputs. */
const MAX_NESTING = 500;

/**
 * Runs before the code, while the language's built-in functions are unchanged: makes `inputs` and `outputs`, and returns a function that
 * runs the code and returns the JSON text of its outputs, or rejects with the input of {@link SHOWN}. It is parsed for every run, at some
 * 10 µs per line, so it is short. `t` is the JSON of the inputs, and `n` the seed of random numbers, which is not 0.
 */
const HARNESS = `((t,n)=>{
const{parse:p,stringify:s}=JSON,a=Reflect.apply,l=String.prototype.slice,E=Error;
Math.random=()=>{n^=n<<13;n^=n>>>17;n^=n<<5;return(n>>>0)/4294967296};
globalThis.inputs=p(t);globalThis.outputs={};
return async c=>{try{const r=await c();return s(r===undefined?globalThis.outputs:r)}catch(e){throw[e,E,a,l]}}})`;

/** Makes a text of the code's error, with functions that the code cannot have changed. */
const SHOWN = `((thrown) => {
  const error = thrown[0], AnyError = thrown[1], apply = thrown[2], slice = thrown[3];
  try {
    if (!(error instanceof AnyError)) return apply(slice, '' + error, [0, ${MAX_MESSAGE}]);
    return apply(slice, error.name + ': ' + error.message, [0, ${MAX_MESSAGE}]) + '\\n' + apply(slice, '' + error.stack, [0, 2000]);
  } catch {
    return 'something that has no text';
  }
})`;

/** Runs code, each time in a fresh context. */
export class Sandbox {
  private readonly engine: CodeEngine;

  constructor(
    memoryBytes: number,
    private readonly clock: Pick<ProcessorClock, 'processorMs'>,
  ) {
    this.engine = new CodeEngine(memoryBytes);
  }

  /** Starts the engine, unless it is already running. */
  prepare(): Promise<void> {
    return this.engine.prepare();
  }

  /** `isWanted` is called now and then while the code runs; false ends it as if its time were over. */
  async run(job: CodeJob, isWanted: () => boolean): Promise<CodeAnswer> {
    let time: RunTime | undefined;
    let isCut = false;
    const isOver = (): boolean => (isCut ||= time?.isOver() === true || !isWanted());
    try {
      return await this.engine.use(isOver, (context) => {
        time = new RunTime(job, this.clock);
        const ran = runIn(context, job);
        return isCut ? { fault: { kind: 'time' } as const } : ran;
      });
    } catch (error) {
      if (!isCut && !isTooDeep(error)) throw error;
      return { fault: { kind: isCut ? 'time' : 'depth' } };
    }
  }
}

/** The time of one run. Its processor time is read only when it may be over, since reading it costs some microseconds. */
class RunTime {
  private readonly begunAt: number;
  /** On the clock, ms. */
  private readonly end: number;
  /** On the clock, ms: the earliest possible end. */
  private lookAt: number;

  constructor(
    private readonly job: Pick<CodeJob, 'runMs' | 'deadline'>,
    private readonly clock: Pick<ProcessorClock, 'processorMs'>,
  ) {
    this.begunAt = clock.processorMs();
    this.end = performance.now() + Math.min(job.runMs * CLOCK_FACTOR, job.deadline - Date.now());
    this.lookAt = performance.now() + this.leftMs();
  }

  isOver(): boolean {
    if (performance.now() < this.lookAt) return false;
    const leftMs = this.leftMs();
    this.lookAt = performance.now() + leftMs;
    return leftMs <= 0;
  }

  private leftMs(): number {
    return Math.min(this.job.runMs - (this.clock.processorMs() - this.begunAt), this.end - performance.now());
  }
}

const runIn = (context: QuickJSContext, job: CodeJob): CodeAnswer => {
  const code = context.evalCode(asFunction(job.source), 'code');
  if (code.error !== undefined) {
    const { message = '', stack = '' } = context.dump(code.error) as {
      readonly message?: string;
      readonly stack?: string;
    };
    code.error.dispose();
    return { fault: faultOf('syntax', message, stack) };
  }
  const started = start(context, job);
  if (started === undefined) return { fault: { kind: 'memory' } };
  const promise = context.callFunction(started, context.undefined, code.value);
  started.dispose();
  code.value.dispose();
  if (promise.error !== undefined) {
    promise.error.dispose();
    return { fault: { kind: 'memory' } };
  }
  const jobs = context.runtime.executePendingJobs();
  jobs.dispose();
  const ran = settled(context, promise.value, job);
  promise.value.dispose();
  return ran;
};

/** The function that runs the code; undefined if the inputs do not fit into the memory. */
const start = (context: QuickJSContext, job: CodeJob) => {
  const harness = context.evalCode(HARNESS, 'harness');
  if (harness.error !== undefined) {
    harness.error.dispose();
    return undefined;
  }
  const inputs = context.newString(job.inputs);
  const seed = context.newNumber(job.seed === 0 ? 1 : job.seed);
  const run = context.callFunction(harness.value, context.undefined, inputs, seed);
  for (const handle of [harness.value, inputs, seed]) handle.dispose();
  if (run.error === undefined) return run.value;
  run.error.dispose();
  return undefined;
};

const settled = (context: QuickJSContext, promise: QuickJSHandle, { maxOutputLength }: CodeJob): CodeAnswer => {
  const state = context.getPromiseState(promise);
  if (state.type === 'pending') return { fault: { kind: 'unsettled' } };
  if (state.type === 'rejected') {
    const text = shown(context, state.error);
    state.error.dispose();
    // Without memory for the text of the error there is no text.
    if (text === undefined || /^InternalError: out of memory/.test(text)) return { fault: { kind: 'memory' } };
    const [message = '', ...stack] = text.split('\n    at ');
    return { fault: faultOf('thrown', message.trim(), stack.join('\n')) };
  }
  const { value } = state;
  try {
    if (context.typeof(value) !== 'string') return { fault: { kind: 'no_object' } };
    const length = context.getProp(value, 'length').consume((handle) => context.getNumber(handle));
    if (length > maxOutputLength) return { fault: { kind: 'size', length } };
    const outputs = context.getString(value);
    if (!outputs.startsWith('{')) return { fault: { kind: 'no_object' } };
    return isNestedDeep(outputs) ? { fault: { kind: 'depth' } } : { outputs };
  } finally {
    value.dispose();
  }
};

/** The text of the code's error, with its stack; undefined if there is no memory for it. */
const shown = (context: QuickJSContext, thrown: QuickJSHandle): string | undefined => {
  const show = context.evalCode(SHOWN, 'shown');
  if (show.error !== undefined) {
    show.error.dispose();
    return undefined;
  }
  const text = context.callFunction(show.value, context.undefined, thrown);
  show.value.dispose();
  if (text.error !== undefined) {
    text.error.dispose();
    return undefined;
  }
  return text.value.consume((value) => (context.typeof(value) === 'string' ? context.getString(value) : undefined));
};

/** Whether a JSON text nests deeper than the consumers of a node's outputs support. */
const isNestedDeep = (json: string): boolean => {
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (character === '"') at = endOfText(json, at);
    else if (character === '[' || character === '{') depth += 1;
    else if (character === ']' || character === '}') depth -= 1;
    if (depth > MAX_NESTING) return true;
  }
  return false;
};

/** The end of the JSON string that begins at a position. */
const endOfText = (json: string, begin: number): number => {
  let at = begin + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at;
};

const faultOf = (kind: 'syntax' | 'thrown', message: string, stack: string): CodeFault => {
  if (/stack overflow$/.test(message)) return { kind: 'depth' };
  const line = Number(/\bcode:(\d+)/.exec(stack)?.[1] ?? 0) - LINES_BEFORE;
  return { kind, message: message.slice(0, MAX_MESSAGE), line: Math.max(0, line) };
};
