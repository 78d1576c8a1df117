import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import baseVariant from '@jitl/quickjs-wasmfile-release-sync';
import moduleLoader from '@jitl/quickjs-wasmfile-release-sync/emscripten-module';
import { newQuickJSWASMModuleFromVariant } from 'quickjs-emscripten-core';

/** One run, in the form that the bare pool sends. */
export interface BareJob {
  readonly code: string;
  /** JSON text. */
  readonly inputs: string;
}

/*
 * A thread that runs each text of code in a fresh runtime and context of the same engine, with the same limits and the same priority, and answers
 * the JSON text of its outputs: the minimum for a separate context per run. Nothing else: no random numbers of its own, no promises, no reasons
 * of errors.
 */

const LIMITS = { memoryLimitBytes: 33_554_432, maxStackSizeBytes: 262_144, interruptHandler: () => false };

// The priority of the service's threads, so that other load on the machine affects both alike.
if (process.platform === 'linux') setPriority(15);

const loader = moduleLoader as typeof moduleLoader & { readonly default?: typeof moduleLoader };
const loading = newQuickJSWASMModuleFromVariant({
  ...baseVariant,
  importModuleLoader: () => Promise.resolve(loader.default ?? loader),
});

parentPort?.on('message', ({ code, inputs }: BareJob) => {
  void loading.then((engine) => {
    const runtime = engine.newRuntime(LIMITS);
    const context = runtime.newContext();
    const text = `((text) => { const inputs = JSON.parse(text), outputs = {};\n${code}\nreturn JSON.stringify(outputs) })`;
    const run = context.unwrapResult(context.evalCode(text));
    const given = context.newString(inputs);
    const answer = context.unwrapResult(context.callFunction(run, context.undefined, given));
    const outputs = context.getString(answer);
    for (const handle of [answer, given, run]) handle.dispose();
    context.dispose();
    runtime.dispose();
    parentPort?.postMessage(outputs);
  });
});
