import { hasRun } from '@decision/contexts';
import { type ContextCascadeSummary, ServiceError } from '@decision/contracts';
import { type Transaction } from '@decision/persistence';
import { type InstancesContext, operate } from '../operations/operate';
import { groupBy, type RequestOrigin, type WorkResult } from '../operations/work';
import {
  areNamedBySource,
  existingReaders,
  findHoldingReaders,
  findNamedReaders,
  type ReadingRelationship,
} from './find-readers';

/** Progress of a cascade: the current relationship, and the last reader that was re-evaluated. */
interface CascadeProgress {
  readonly relationshipId: string;
  readonly after: string;
}

/** An instance whose readers must be re-evaluated. */
export interface Source {
  readonly instanceId: string;
  /** Undefined: no reader was re-evaluated yet. */
  readonly begun: CascadeProgress | undefined;
}

/** Stores the progress of the cascade of each source. Neither method rejects: without a note, readers are re-evaluated again. */
export interface CascadeNotes<S extends Source> {
  progress(sources: readonly { readonly source: S; readonly progress: CascadeProgress }[]): Promise<void>;
  /** Every reader of these sources was evaluated. */
  finished(sources: readonly S[]): Promise<void>;
}

interface CascadeSurroundings<S extends Source> {
  /** The context of the sources. */
  readonly contextId: string;
  readonly relationships: readonly ReadingRelationship[];
  readonly summaries: Summaries;
  readonly notes: CascadeNotes<S>;
}

/** Readers that are remembered to avoid a second evaluation if several relationships lead to them; further ones may be evaluated twice. */
const MOST_REMEMBERED = 200_000;

/**
 * Re-evaluates the readers of changed instances, each once, even if several changed instances lead to it. A source is complete when the
 * last of its own readers was evaluated, independently of the readers of others. Time is linear in sources and links; all reader ids are
 * held in memory for sources that name their readers.
 */
export class Cascade<S extends Source> {
  /** Readers that were evaluated, by context: a reader may be reached through several relationships. */
  private readonly evaluated = new Map<string, Set<string>>();
  private remembered = 0;
  /** Sources with a reader that could not be evaluated. Later readers are evaluated too, but not noted. */
  private readonly broken = new Set<S>();
  /** Sources whose readers through the current relationship have all been re-evaluated. */
  private passed = new Set<S>();

  constructor(
    private readonly context: Pick<InstancesContext, 'database' | 'operate' | 'chunkSize'>,
    private readonly origin: RequestOrigin,
    private readonly surroundings: CascadeSurroundings<S>,
    private readonly sources: readonly S[],
  ) {}

  async run(): Promise<void> {
    const { relationships, summaries } = this.surroundings;
    for (const [index, through] of relationships.entries()) {
      const open = this.sources.filter((source) => this.firstOf(source) <= index);
      this.passed = new Set();
      try {
        if (areNamedBySource(through)) await this.cascadeToNamed(through, open);
        else await this.cascadeToHolders(through, open);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        summaries.broken(through, error.message);
        this.context.operate.onEvent?.({ type: 'cascade_broken' });
      }
      for (const source of open) if (!this.passed.has(source)) this.broken.add(source);
    }
    if (relationships.length === 0) await this.finish(this.sources);
  }

  /** Start of a source: the index of a relationship. If that relationship no longer exists, none is skipped. */
  private firstOf({ begun }: S): number {
    const index = this.surroundings.relationships.findIndex(
      ({ relationship }) => relationship.id === begun?.relationshipId,
    );
    return Math.max(0, index);
  }

  /** Sources name their readers: the readers of all sources are collected first, so that each is evaluated once. */
  private async cascadeToNamed(through: ReadingRelationship, open: readonly S[]): Promise<void> {
    const { chunkSize } = this.context;
    const { sources, readerIds } = await this.gather(through, open);
    const failed = new Set<string>();
    let next = 0;
    for (let from = 0; next < sources.length; from += chunkSize) {
      const page = readerIds.slice(from, from + chunkSize);
      if (page.length > 0) {
        this.requireTime();
        const existing = await this.inWorkspace((transaction) => existingReaders(transaction, through, page));
        for (const id of await this.evaluate(through, existing)) failed.add(id);
      }
      const last = page.at(-1) ?? '';
      const complete: Named<S>[] = [];
      for (let one = sources[next]; one !== undefined && lastOf(one) <= last; one = sources[(next += 1)])
        complete.push(one);
      const well = complete.filter(({ targets }) => !targets.some((id) => failed.has(id))).map(({ source }) => source);
      await this.pass(through, well, from + chunkSize < readerIds.length ? last : undefined);
    }
  }

  /** Ids that each source names, in order, and all ids; sources are ordered by their last ids. */
  private async gather(
    through: ReadingRelationship,
    open: readonly S[],
  ): Promise<{ readonly sources: readonly Named<S>[]; readonly readerIds: readonly string[] }> {
    const { contextId } = this.surroundings;
    const sources: Named<S>[] = [];
    for (const chunk of this.chunksOf(open)) {
      this.requireTime();
      const ids = chunk.map(({ instanceId }) => instanceId);
      const named = await this.inWorkspace((transaction) => findNamedReaders(transaction, through, contextId, ids));
      for (const source of chunk) {
        const after = afterOf(source, through);
        const targets = (named.get(source.instanceId) ?? []).filter((id) => id > after).sort();
        sources.push({ source, targets });
      }
    }
    return {
      sources: sources.sort((a, b) => (lastOf(a) < lastOf(b) ? -1 : 1)),
      readerIds: [...new Set(sources.flatMap(({ targets }) => targets))].sort(),
    };
  }

  /** Each reader names one source: sources never share readers, and the number of readers is unbounded. */
  private async cascadeToHolders(through: ReadingRelationship, open: readonly S[]): Promise<void> {
    const equallyFar = groupBy(open, (source) => afterOf(source, through));
    for (const [after, group] of equallyFar)
      for (const chunk of this.chunksOf(group)) await this.cascadeToHoldersOf(through, chunk, after);
  }

  private async cascadeToHoldersOf(through: ReadingRelationship, chunk: readonly S[], from: string): Promise<void> {
    const place = { sourceIds: chunk.map(({ instanceId }) => instanceId), limit: this.context.chunkSize };
    let isWhole = true;
    for (let after: string | undefined = from; after !== undefined;) {
      this.requireTime();
      const start: string = after;
      const page = await this.inWorkspace((transaction) =>
        findHoldingReaders(transaction, through, { ...place, after: start }),
      );
      if ((await this.evaluate(through, page.readerIds)).length > 0) isWhole = false;
      after = page.next;
      if (after !== undefined && isWhole) await this.note(through, chunk, after);
    }
    if (isWhole) await this.pass(through, chunk, undefined);
  }

  /** Marks sources whose readers through a relationship were evaluated; `after` is the last reader if further pages follow. */
  private async pass(through: ReadingRelationship, sources: readonly S[], after: string | undefined): Promise<void> {
    for (const source of sources) this.passed.add(source);
    const isLast = this.surroundings.relationships.at(-1) === through;
    if (isLast) await this.finish(sources);
    else if (after !== undefined) await this.note(through, sources, after);
  }

  private async finish(sources: readonly S[]): Promise<void> {
    const whole = sources.filter((source) => !this.broken.has(source));
    for (const chunk of this.chunksOf(whole)) await this.surroundings.notes.finished(chunk);
  }

  private async note({ relationship }: ReadingRelationship, sources: readonly S[], after: string): Promise<void> {
    const progress = { relationshipId: relationship.id, after };
    const whole = sources.filter((source) => !this.broken.has(source));
    for (const chunk of this.chunksOf(whole))
      await this.surroundings.notes.progress(chunk.map((source) => ({ source, progress })));
  }

  /** Evaluates existing readers; answers the failed ones. */
  private async evaluate(through: ReadingRelationship, readerIds: readonly string[]): Promise<readonly string[]> {
    const given = this.notYetEvaluated(through, readerIds).map((instanceId) => ({ instanceId, facts: {} }));
    if (given.length === 0) return [];
    const { origin, surroundings } = this;
    const result = await operate(this.context.operate, { context: through.reader, origin, given, mode: 'dependent' });
    const failed = surroundings.summaries.add(through, result);
    const evaluated = result.outcomes.size + result.failures.size - failed.length;
    this.context.operate.onEvent?.({ type: 'cascade_page', evaluated, failed: failed.length });
    for (const id of failed) this.evaluated.get(through.reader.id)?.delete(id);
    return failed;
  }

  private notYetEvaluated({ reader }: ReadingRelationship, ids: readonly string[]): readonly string[] {
    const isReachedTwice = this.surroundings.relationships.filter((other) => other.reader.id === reader.id).length > 1;
    if (!isReachedTwice) return ids;
    const known = this.evaluated.get(reader.id) ?? new Set();
    this.evaluated.set(reader.id, known);
    const open = ids.filter((id) => !known.has(id));
    if (this.remembered + open.length <= MOST_REMEMBERED) {
      for (const id of open) known.add(id);
      this.remembered += open.length;
    }
    return open;
  }

  private requireTime(): void {
    if (Date.now() < this.origin.deadline) return;
    throw new ServiceError(
      'deadline_exceeded',
      'The deadline passed before every dependent instance was evaluated; send the request again to go on. After a delete, the service goes on by itself.',
    );
  }

  private chunksOf<T>(all: readonly T[]): readonly (readonly T[])[] {
    const { chunkSize } = this.context;
    return Array.from({ length: Math.ceil(all.length / chunkSize) }, (_, index) =>
      all.slice(index * chunkSize, (index + 1) * chunkSize),
    );
  }

  private inWorkspace<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.context.database.inWorkspace(this.origin.access, work);
  }
}

/** A source with the readers that it names, in order. */
interface Named<S> {
  readonly source: S;
  readonly targets: readonly string[];
}

const lastOf = ({ targets }: Named<unknown>): string => targets.at(-1) ?? '';

/** The last reader that was re-evaluated through a relationship; empty if none was. */
const afterOf = ({ begun }: Source, { relationship }: ReadingRelationship): string =>
  begun?.relationshipId === relationship.id ? begun.after : '';

/** Largest number of ids of failed instances in a summary. */
const MOST_NAMED = 1_000;

/** Counts the outcomes of readers, by context and relation (C119). */
export class Summaries {
  private readonly byRelation = new Map<string, ContextCascadeSummary>();
  private failures = 0;

  /** Whether every reader so far was evaluated, with any result. */
  get allWell(): boolean {
    return this.failures === 0;
  }

  /** Answers the ids of the readers that were not fully evaluated. */
  add({ relationship, reader }: ReadingRelationship, { outcomes, failures }: WorkResult): readonly string[] {
    const failed: string[] = [];
    const summary = this.of(relationship.name, reader.slug, relationship.id);
    summary.instances += outcomes.size + failures.size;
    for (const [instanceId, { settled }] of outcomes) {
      const count = (status: string): number => settled.runs.filter((run) => run.status === status).length;
      summary.executed += settled.runs.filter(hasRun).length;
      summary.skipped += count('skipped_already_run');
      summary.evaluation_errors += count('evaluation_error');
      summary.infrastructure_errors += count('infrastructure_error');
      if (settled.degraded !== undefined) summary.execution_degraded = settled.degraded;
      if (count('infrastructure_error') > 0 || settled.ended !== 'fixpoint') failed.push(instanceId);
    }
    for (const [instanceId, failure] of failures) {
      summary.infrastructure_errors += 1;
      summary.error = failure.message;
      failed.push(instanceId);
    }
    for (const id of failed) this.fail(summary, id);
    return failed;
  }

  /** A relation whose readers could not be found. */
  broken({ relationship, reader }: ReadingRelationship, error: string): void {
    this.of(relationship.name, reader.slug, relationship.id).error = error;
    this.failures += 1;
  }

  list(): ContextCascadeSummary[] {
    return [...this.byRelation.values()].filter(({ instances, error }) => instances > 0 || error !== undefined);
  }

  private of(relation: string, context: string, id: string): ContextCascadeSummary {
    const zero = { instances: 0, executed: 0, skipped: 0, evaluation_errors: 0, infrastructure_errors: 0 };
    const summary = this.byRelation.get(id) ?? { context, relation, ...zero };
    this.byRelation.set(id, summary);
    return summary;
  }

  private fail(summary: ContextCascadeSummary, instanceId: string): void {
    this.failures += 1;
    summary.failed_instance_ids ??= [];
    if (summary.failed_instance_ids.length < MOST_NAMED) summary.failed_instance_ids.push(instanceId);
  }
}
