import baseVariant from '@jitl/quickjs-wasmfile-release-sync';
import moduleLoader from '@jitl/quickjs-wasmfile-release-sync/emscripten-module';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core';

/** What is used of the platform's `WebAssembly`, of which the compiler has no types here. */
declare const WebAssembly: {
  readonly Memory: new (pages: { readonly initial: number; readonly maximum: number }) => {
    readonly buffer: ArrayBuffer;
  };
};

/** Its loader is a module like all others here. */
const variant = { ...baseVariant, importModuleLoader: () => Promise.resolve(moduleLoader) };
/** What an engine says of its own end is seen in what it throws. */
const emscriptenModule: object = { printErr: (): void => undefined };
/** Bytes of stack that code may take: well below the stack of a thread, so that the engine notices first. */
const STACK_BYTES = 256 * 1_024;
const PAGE_BYTES = 65_536;
/** Memory that an engine begins with, and needs in part for itself. */
const FIRST_PAGES = 256;

/**
 * An engine for JavaScript in a memory of its own. Each use has a runtime and a context that nothing before it has touched. An engine that fails
 * itself is replaced before its next use.
 */
export class CodeEngine {
  private loading: Promise<QuickJSWASMModule> | undefined;

  /** Code has `memoryBytes`, in whole pages of 64 KiB, beside the 16 MiB of the engine itself. */
  constructor(private readonly memoryBytes: number) {}

  /**
   * Does something in a fresh context, which ends with it. `isOver` is asked now and then while code runs; true ends it. Rejects when the engine
   * itself fails, as it may for code that nests too deep.
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

  /** Starts the engine, unless it runs already. */
  async prepare(): Promise<void> {
    await (this.loading ??= this.load());
  }

  private load(): Promise<QuickJSWASMModule> {
    // The engine's own account of memory misses most of what code allocates; the memory itself cannot grow beyond its maximum.
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
      // Code that was cut short may leave objects behind that the engine cannot free.
      this.loading = undefined;
    }
    return answer;
  }
}

/** Whether an engine ended because code nests too deep for the stack of its thread. */
export const isTooDeep = (error: unknown): boolean =>
  error instanceof Object && 'name' in error && (error.name === 'RangeError' || error.name === 'RuntimeError');

/** The code of a node as a function, which begins in the second line. */
export const asFunction = (source: string): string => `(async function () {\n${source}\n})`;

/** Lines of {@link asFunction} before the code itself. */
export const LINES_BEFORE = 1;
