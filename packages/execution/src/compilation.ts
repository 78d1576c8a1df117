/** A rule or a flow was compiled for this thread. */
export interface Compilation {
  readonly asset: 'rule' | 'flow';
  /** Time in which the thread did nothing else; for a flow without its rules. */
  readonly tookMs: number;
}

/** Receives compilations, for metrics. */
export type OnCompiled = (compilation: Compilation) => void;

/** Compiles and reports it. Failures are not reported. */
export const timedCompile = <T>(
  asset: Compilation['asset'],
  onCompiled: OnCompiled | undefined,
  compile: () => T,
): T => {
  if (onCompiled === undefined) return compile();
  const begunAt = performance.now();
  const compiled = compile();
  onCompiled({ asset, tookMs: performance.now() - begunAt });
  return compiled;
};
