import { type Database, forgetFormerLinks, forgetUntold, saveUntoldProgress } from '@decision/persistence';
import { type RequestOrigin } from '../operations/work';
import { type InstancesContext } from '../service-context';
import { type ReadingRelationship } from './find-readers';
import { type Summaries } from './summaries';
import { type Source, Telling, type TellingNotes } from './telling';

/** An instance that is marked as untold, as it is now. */
export interface UntoldSource extends Source {
  readonly mark: string;
  /** 0: it is gone. */
  readonly version: number;
}

interface UntoldReaders {
  readonly contextId: string;
  readonly relationships: readonly ReadingRelationship[];
  readonly summaries: Summaries;
}

/**
 * Re-evaluates the instances that read some that are gone, or that nobody told their readers of. Progress is noted on the marks, so that a later
 * process resumes; marks whose readers were all evaluated are removed.
 */
export const tellUntoldReaders = (
  context: Pick<InstancesContext, 'database' | 'operate' | 'chunkSize'>,
  origin: RequestOrigin,
  readers: UntoldReaders,
  sources: readonly UntoldSource[],
): Promise<void> => {
  const notes = notesOnMarks(context.database, origin, readers.contextId);
  return new Telling(context, origin, { ...readers, notes }, sources).run();
};

const notesOnMarks = (
  database: Database,
  { access }: RequestOrigin,
  contextId: string,
): TellingNotes<UntoldSource> => ({
  progress: (told) =>
    database
      .inWorkspace(access, (transaction) => {
        const passes = told.map(({ source: { instanceId, mark }, progress }) => ({ instanceId, mark, progress }));
        return saveUntoldProgress(transaction, contextId, passes);
      })
      .catch(() => undefined),
  finished: (sources) =>
    database
      .inWorkspace(access, async (transaction) => {
        const versions = new Map(sources.map(({ instanceId, version }) => [instanceId, version]));
        await forgetFormerLinks(transaction, contextId, versions);
        await forgetUntold(transaction, contextId, sources);
      })
      .catch(() => undefined),
});
