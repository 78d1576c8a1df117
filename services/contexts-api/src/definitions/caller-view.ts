import { type Settled } from '@decision/contexts';
import { type ContextCascadeSummary } from '@decision/contracts';
import { type VisibleAround, type WorkspaceAccess } from '@decision/persistence';

/** The part of a context's surroundings that the caller of a request sees: the answers show no more (V9 to V11). */
export class CallerView {
  /** Undefined: everything. */
  private readonly contexts: ReadonlySet<string> | undefined;
  private readonly relationships: ReadonlySet<string> | undefined;
  private readonly assets: ReadonlySet<string> | undefined;

  constructor(
    /** The caller's own: with it everything is read that a request names or an answer shows. */
    readonly access: WorkspaceAccess,
    around: VisibleAround | undefined,
  ) {
    this.contexts = around && new Set(around.contexts);
    this.relationships = around && new Set(around.relationships);
    this.assets = around && new Set(around.rules.map((slug) => `rule:${slug}`));
  }

  seesContext(slug: string): boolean {
    return this.contexts?.has(slug) ?? true;
  }

  seesRelationship({ id }: { readonly id: string }): boolean {
    return this.relationships?.has(id) ?? true;
  }

  /** Whether a bound asset of this key, `rule:<slug>`, is seen. */
  seesAsset(key: string): boolean {
    return this.assets?.has(key) ?? true;
  }

  executions<T>(all: Readonly<Record<string, T>>): Record<string, T> {
    return Object.fromEntries(Object.entries(all).filter(([key]) => this.seesAsset(key)));
  }

  /** Outcome of an instance as the caller sees it: all facts, and the runs that are visible. */
  outcome<T extends { readonly settled: Settled }>(outcome: T): T {
    if (this.assets === undefined) return outcome;
    const { settled } = outcome;
    return {
      ...outcome,
      settled: {
        ...settled,
        runs: settled.runs.filter(({ type, slug }) => this.seesAsset(`${type}:${slug}`)),
        executions: this.executions(settled.executions),
        unfinished: settled.unfinished.filter((key) => this.seesAsset(key)),
      },
    };
  }

  summaries(all: readonly ContextCascadeSummary[]): ContextCascadeSummary[] {
    return all.filter(({ context }) => this.seesContext(context));
  }
}
