import baseVariant from '@jitl/quickjs-wasmfile-release-sync';
import moduleLoader from '@jitl/quickjs-wasmfile-release-sync/emscripten-module';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core';

/** The used part of the platform's `WebAssembly`, for which the compiler has no types here. */
declare const WebAssembly: {
  readonly Memory: new (pages: { readonly initial: number; readonly maximum: number }) => {
    readonly buffer: ArrayBuffer;
  };
};

/** Its loader is an ordinary module here. */
const variant = { ...baseVariant, importModuleLoader: () => Promise.resolve(moduleLoader) };
/** The engine's output about its abort also appears in the error that it throws. */
const emscriptenModule: object = { printErr: (): void => undefined };
/** Bytes of stack for code: well below the stack of a thread, so that the engine's own check triggers first. */
const STACK_BYTES = 256 * 1_024;
const PAGE_BYTES = 65_536;
/** Initial memory of an engine, part of which it needs for itself. */
const FIRST_PAGES = 256;

/**
 * An engine for JavaScript in a memory of its own. Each use has a fresh runtime and context. An engine that fails itself is replaced before
 * its next use.
 */
export class CodeEngine {
  private loading: Promise<QuickJSWASMModule> | undefined;

  /** Code has `memoryBytes`, in whole pages of 64 KiB, in addition to the 16 MiB of the engine itself. */
  constructor(private readonly memoryBytes: number) {}

  /**
   * Runs work in a fresh context, which is then disposed of. `isOver` is called now and then while code runs; true ends it. Rejects when
   * the engine itself fails, as it may for code that nests too deep.
   */
  async use<T>(isOver: () => boolean, work: (context: QuickJSContext) => T): Promise<T> {
    this.loading ??= this.load();
    const engine = await this.loading;
    try {
      return this.inFreshContext(engine, isOver, work);
    } catch (error) {
      this.loading = undefined;
      throw error;
    }
  }

  /** Starts the engine, unless it is already running. */
  async prepare(): Promise<void> {
    await (this.loading ??= this.load());
  }

  private load(): Promise<QuickJSWASMModule> {
    // The engine's own memory limit misses most allocations of code; the WebAssembly memory cannot grow beyond its maximum.
    const maximum = FIRST_PAGES + Math.ceil(this.memoryBytes / PAGE_BYTES);
    const wasmMemory = new WebAssembly.Memory({ initial: FIRST_PAGES, maximum });
    return newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmMemory, emscriptenModule }));
  }

  private inFreshContext<T>(engine: QuickJSWASMModule, isOver: () => boolean, work: (context: QuickJSContext) => T): T {
    const runtime = engine.newRuntime({
      memoryLimitBytes: this.memoryBytes,
      maxStackSizeBytes: STACK_BYTES,
      interruptHandler: isOver,
    });
    const context = runtime.newContext();
    const answer = work(context);
    try {
      context.dispose();
      runtime.dispose();
    } catch {
      // Interrupted code may leave objects that the engine cannot free.
      this.loading = undefined;
    }
    return answer;
  }
}

/** Whether an engine ended because code nests too deep for the stack of its thread. */
export const isTooDeep = (error: unknown): boolean =>
  error instanceof Object && 'name' in error && (error.name === 'RangeError' || error.name === 'RuntimeError');

/** The code of a node as a function body, which starts on the second line. */
export const asFunction = (source: string): string => `(async function () {\n${source}\n})`;

/** Lines of {@link asFunction} before the code itself. */
export const LINES_BEFORE = 1;
