import { canonicalJson } from '@decision/contexts';
import { type ContextCascadeSummary } from '@decision/contracts';
import { inputHash } from '@decision/execution';
import {
  type Database,
  forgetFormerLinks,
  removePendingCascades,
  type ReaderPass,
  saveReaderPasses,
  savePendingProgress,
} from '@decision/persistence';
import { type ContextInUse } from '../definitions/context-directory';
import { type WritingContext } from '../operations/operate';
import { type InstanceOutcome, type RequestOrigin } from '../operations/work';
import { type Source, Summaries, Cascade, type CascadeNotes } from './cascade';
import { findReadingRelationships, type ReadingRelationship } from './find-readers';

/** A changed instance in the state in which it was written. */
interface ChangedInstance extends Source {
  readonly version: number;
  /** Fingerprint of its facts: with the same one, the cascade resumes where it stopped before (C115). */
  readonly fingerprint: string;
}

/** Memory of one changed instance beside its id, bytes; mostly its fingerprint. */
const BYTES_OF_EACH = 300;

/** Changed instances of one context, with the state that a cascade starts from. Adding an instance again replaces it. */
export class ChangedInstances {
  private readonly byId = new Map<string, ChangedInstance>();
  private newest: ContextInUse | undefined;
  private heldBytes = 0;

  /** Their approximate memory. */
  get bytes(): number {
    return this.heldBytes;
  }

  /** The context as of the last of these writes: a relationship may have been created since the first one. */
  get context(): ContextInUse | undefined {
    return this.newest;
  }

  add({ instanceId, version, context, resolved, readerPass }: InstanceOutcome): void {
    if (Number(context.revision) > Number(this.newest?.revision ?? -1)) this.newest = context;
    if (!isRead(context)) return;
    const fingerprint = inputHash(canonicalJson(resolved.state));
    const known = readerPass?.fingerprint === fingerprint ? readerPass : undefined;
    const isAddedAgain = this.byId.has(instanceId);
    if (known?.done === true && !isAddedAgain) return;
    if (!isAddedAgain) this.heldBytes += 2 * instanceId.length + BYTES_OF_EACH;
    // A state that was added before may have been read, even if the facts equal the former ones again.
    const begun = isAddedAgain ? undefined : toProgress(known);
    this.byId.set(instanceId, { instanceId, version, fingerprint, begun });
  }

  list(): readonly ChangedInstance[] {
    return [...this.byId.values()];
  }
}

/** Whether any relationship leads to a context. */
const isRead = ({ id, world }: ContextInUse): boolean =>
  world.relationships.some(({ toContextId }) => toContextId === id);

const toProgress = (pass: ReaderPass | undefined): Source['begun'] =>
  pass?.relationshipId === undefined ? undefined : { relationshipId: pass.relationshipId, after: pass.after ?? '' };

/**
 * Re-evaluates the instances that read a changed one, one level deep (C111 to C117). If it fails, the next submission resumes there. Throws
 * `database_unavailable`.
 */
export const cascadeChange = async (
  context: WritingContext,
  origin: RequestOrigin,
  changed: InstanceOutcome,
): Promise<readonly ContextCascadeSummary[]> => {
  const instances = new ChangedInstances();
  const summaries = new Summaries();
  instances.add(changed);
  await cascadeChanges(context, origin, instances, summaries);
  return summaries.list();
};

/**
 * Re-evaluates the instances that read changed ones, each once, and counts the outcomes. Progress is recorded on the changed instances, so
 * that the same state resumes and another one starts anew. Throws `database_unavailable`.
 */
export const cascadeChanges = async (
  context: WritingContext,
  origin: RequestOrigin,
  changed: ChangedInstances,
  summaries: Summaries,
): Promise<void> => {
  const { context: source } = changed;
  const sources = changed.list();
  if (source === undefined || sources.length === 0) return;
  const relationships = await context.database.inWorkspace(origin.access, (transaction) =>
    findReadingRelationships(transaction, context.directory, source, origin.access.workspaceId),
  );
  if (relationships.length === 0) return;
  const notes = notesOnInstances(context.database, origin, source.id);
  await new Cascade(context, origin, { contextId: source.id, relationships, summaries, notes }, sources).run();
};

/** Progress is recorded on the changed instances themselves, in the version whose readers are re-evaluated. */
const notesOnInstances = (
  database: Database,
  { access }: RequestOrigin,
  contextId: string,
): CascadeNotes<ChangedInstance> => {
  const passOf = ({ instanceId, version, fingerprint }: ChangedInstance, progress: Omit<ReaderPass, 'fingerprint'>) =>
    [instanceId, { version, pass: { fingerprint, ...progress } }] as const;
  return {
    progress: (sources) =>
      database
        .inWorkspace(access, (transaction) => {
          const passes = sources.map(({ source, progress }) => passOf(source, { done: false, ...progress }));
          return saveReaderPasses(transaction, contextId, new Map(passes));
        })
        .catch(() => undefined),
    finished: (sources) =>
      database
        .inWorkspace(access, async (transaction) => {
          const passes = sources.map((source) => passOf(source, { done: true }));
          await saveReaderPasses(transaction, contextId, new Map(passes));
          const versions = new Map(sources.map(({ instanceId, version }) => [instanceId, version]));
          await forgetFormerLinks(transaction, contextId, versions);
        })
        .catch(() => undefined),
  };
};

/** An instance with a pending cascade, in its current state (ADR 30). */
export interface PendingSource extends Source {
  readonly mark: string;
  /** 0: it no longer exists. */
  readonly version: number;
}

interface PendingReaders {
  readonly contextId: string;
  readonly relationships: readonly ReadingRelationship[];
  readonly summaries: Summaries;
}

/**
 * Re-evaluates the readers of instances that were deleted, or whose cascade was interrupted. Progress is saved on the marks, so that a
 * later process resumes; marks whose readers were all evaluated are removed.
 */
export const cascadePending = (
  context: Pick<WritingContext, 'database' | 'operate' | 'chunkSize'>,
  origin: RequestOrigin,
  readers: PendingReaders,
  sources: readonly PendingSource[],
): Promise<void> => {
  const notes = notesOnMarks(context.database, origin, readers.contextId);
  return new Cascade(context, origin, { ...readers, notes }, sources).run();
};

const notesOnMarks = (
  database: Database,
  { access }: RequestOrigin,
  contextId: string,
): CascadeNotes<PendingSource> => ({
  progress: (sources) =>
    database
      .inWorkspace(access, (transaction) => {
        const passes = sources.map(({ source: { instanceId, mark }, progress }) => ({ instanceId, mark, progress }));
        return savePendingProgress(transaction, contextId, passes);
      })
      .catch(() => undefined),
  finished: (sources) =>
    database
      .inWorkspace(access, async (transaction) => {
        const versions = new Map(sources.map(({ instanceId, version }) => [instanceId, version]));
        await forgetFormerLinks(transaction, contextId, versions);
        await removePendingCascades(transaction, contextId, sources);
      })
      .catch(() => undefined),
});
