import { canonicalJson } from '@decision/contexts';
import { type ContextCascadeSummary, ServiceError } from '@decision/contracts';
import { inputHash } from '@decision/execution';
import { forgetFormerLinks, type ReaderPass, saveReaderPasses } from '@decision/persistence';
import { type ContextInUse } from '../definitions/context-directory';
import { groupBy } from '../operations/group-by';
import { operate } from '../operations/operate';
import { type InstanceOutcome, type RequestOrigin } from '../operations/work';
import { type InstancesContext } from '../service-context';
import { findReaderPage, findReadingRelationships, type ReaderPage, type ReadingRelationship } from './find-readers';
import { Summaries } from './summaries';

/** A changed instance with what its readers are told. */
interface Source {
  readonly instanceId: string;
  readonly version: number;
  readonly fingerprint: string;
  /** How far this very state was told before; undefined: not at all. */
  readonly begun: ReaderPass | undefined;
}

/**
 * Re-evaluates the instances that read changed ones, one level deep, each once for each context (C111 to C117). Progress is recorded on the changed
 * instances with every page, so that the same state resumes and another begins anew. Never rejects: what goes wrong stands in the summaries, and what
 * was not told is told by the next submission.
 */
export const tellReaders = async (
  context: InstancesContext,
  origin: RequestOrigin,
  source: ContextInUse,
  changed: readonly InstanceOutcome[],
): Promise<readonly ContextCascadeSummary[]> => {
  const summaries = new Summaries();
  if (!source.world.relationships.some(({ toContextId }) => toContextId === source.id)) return [];
  const sources = changed.map(toSource).filter(({ begun }) => begun?.done !== true);
  if (sources.length === 0) return [];
  const relationships = await context.database.inWorkspace(origin.access, (transaction) =>
    findReadingRelationships(transaction, context.directory, source, origin.access.workspaceId),
  );
  if (relationships.length === 0) return [];
  const groups = groupBy(sources, ({ begun }) => `${begun?.relationshipId ?? ''} ${begun?.after ?? ''}`);
  for (const group of groups.values())
    await new Pass(context, origin, { source, relationships, summaries }, group).run();
  return summaries.list();
};

const toSource = ({ instanceId, version, resolved, readerPass }: InstanceOutcome): Source => {
  const fingerprint = inputHash(canonicalJson(resolved.state));
  return { instanceId, version, fingerprint, begun: readerPass?.fingerprint === fingerprint ? readerPass : undefined };
};

interface PassSurroundings {
  readonly source: ContextInUse;
  readonly relationships: readonly ReadingRelationship[];
  readonly summaries: Summaries;
}

/** Sources that have come equally far are told together. */
class Pass {
  /** Readers that were evaluated in this pass, by context: a reader may be reached through several relationships. */
  private readonly told = new Map<string, Set<string>>();
  /** Whether progress may still be recorded: pages after one that failed are evaluated, and told again next time. */
  private isWhole = true;

  constructor(
    private readonly context: InstancesContext,
    private readonly origin: RequestOrigin,
    private readonly surroundings: PassSurroundings,
    private readonly sources: readonly Source[],
  ) {}

  async run(): Promise<void> {
    const { relationships, source } = this.surroundings;
    const begun = this.sources[0]?.begun;
    const first = Math.max(
      0,
      relationships.findIndex(({ relationship }) => relationship.id === begun?.relationshipId),
    );
    for (const [index, relationship] of relationships.entries()) {
      if (index < first) continue;
      const resumes = relationship.relationship.id === begun?.relationshipId;
      try {
        await this.tellThrough(relationship, resumes ? (begun.after ?? '') : '');
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        this.isWhole = false;
        this.surroundings.summaries.broken(relationship, error.message);
      }
    }
    if (!this.isWhole) return;
    await this.record({ done: true });
    const versions = new Map(this.sources.map(({ instanceId, version }) => [instanceId, version]));
    await this.context.database
      .inWorkspace(this.origin.access, (transaction) => forgetFormerLinks(transaction, source.id, versions))
      .catch(() => undefined); // told once more by a later pass
  }

  private async tellThrough(through: ReadingRelationship, from: string): Promise<void> {
    const { source, summaries } = this.surroundings;
    const { database, operate: operating, chunkSize: limit } = this.context;
    const sourceIds = this.sources.map(({ instanceId }) => instanceId);
    let after: string | undefined = from;
    while (after !== undefined) {
      if (Date.now() >= this.origin.deadline) {
        throw new ServiceError(
          'deadline_exceeded',
          'The deadline passed before every dependent instance was evaluated; send the request again to go on.',
        );
      }
      const place = { sourceIds, after, limit };
      const page: ReaderPage = await database.inWorkspace(this.origin.access, (transaction) =>
        findReaderPage(transaction, through, source, place),
      );
      const given = this.notYetTold(through, page.readerIds).map((instanceId) => ({ instanceId, facts: {} }));
      if (given.length > 0) {
        const result = await operate(operating, {
          context: through.reader,
          origin: this.origin,
          given,
          mode: 'dependent',
        });
        summaries.add(through, result);
        if (!summaries.allWell) this.isWhole = false;
      }
      after = page.next;
      if (after !== undefined && this.isWhole)
        await this.record({ done: false, relationshipId: through.relationship.id, after });
    }
  }

  private notYetTold({ reader }: ReadingRelationship, ids: readonly string[]): readonly string[] {
    const isReachedTwice = this.surroundings.relationships.filter((other) => other.reader.id === reader.id).length > 1;
    if (!isReachedTwice) return ids;
    const told = this.told.get(reader.id) ?? new Set();
    this.told.set(reader.id, told);
    return ids.filter((id) => !told.has(id) && told.add(id).has(id));
  }

  private async record(progress: Omit<ReaderPass, 'fingerprint'>): Promise<void> {
    const passes = this.sources.map(
      ({ instanceId, version, fingerprint }) => [instanceId, { version, pass: { fingerprint, ...progress } }] as const,
    );
    await this.context.database
      .inWorkspace(this.origin.access, (transaction) =>
        saveReaderPasses(transaction, this.surroundings.source.id, new Map(passes)),
      )
      .catch(() => undefined); // what is not recorded is told again
  }
}
