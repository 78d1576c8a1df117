import { readersThrough, type Relationship } from '@decision/contexts';
import { findLinkHolders, findLinkTargets, findNamed, type LinkEnds, type Transaction } from '@decision/persistence';
import { type ContextDirectory, type ContextInUse } from '../definitions/context-directory';

/** A relationship through which instances of another context read those of a changed one. */
export interface ReadingRelationship {
  readonly relationship: Relationship;
  readonly reader: ContextInUse;
}

/** The relationships to a context that formulas or assets of the other side read (C111), in the order in which readers are re-evaluated. */
export const findReadingRelationships = async (
  transaction: Transaction,
  directory: ContextDirectory,
  source: ContextInUse,
  workspaceId: string,
): Promise<readonly ReadingRelationship[]> => {
  const incoming = source.world.relationships.filter(({ toContextId }) => toContextId === source.id);
  const readers = new Map<string, ContextInUse | undefined>();
  for (const { fromContextId } of incoming) {
    if (!readers.has(fromContextId)) {
      readers.set(fromContextId, await directory.openById(transaction, workspaceId, fromContextId));
    }
  }
  return incoming
    .flatMap((relationship) => {
      const reader = readers.get(relationship.fromContextId);
      const isRead = reader?.relations.some(({ id }) => id === relationship.id) === true;
      return isRead ? [{ relationship, reader }] : [];
    })
    .sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
};

const orderOf = ({ reader, relationship }: ReadingRelationship): string => `${reader.slug} ${relationship.id}`;

/** Whether a source's own foreign key names the readers, now or before; otherwise their foreign keys name the source. */
export const areNamedBySource = ({ relationship }: ReadingRelationship): boolean =>
  readersThrough(relationship).by === 'target';

/** The ids that name existing readers. */
export const existingReaders = async (
  transaction: Transaction,
  { reader }: ReadingRelationship,
  ids: readonly string[],
): Promise<readonly string[]> => {
  const existing = await findNamed(transaction, { contextId: reader.id, ids, facts: [] });
  const found = new Set(existing.map(({ instanceId }) => instanceId));
  return ids.filter((id) => found.has(id));
};

/** Links that one statement reads. */
const LINKS_AT_ONCE = 10_000;

/** Ids that foreign keys of changed instances name or named before, by changed instance. */
export const findNamedReaders = async (
  transaction: Transaction,
  { relationship }: ReadingRelationship,
  sourceContextId: string,
  sourceIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const targets = new Map<string, string[]>();
  const query = {
    contextId: sourceContextId,
    fact: readersThrough(relationship).foreignKeyFact,
    instanceIds: sourceIds,
    limit: LINKS_AT_ONCE,
  };
  let after: LinkEnds | undefined;
  do {
    const links = await findLinkTargets(transaction, { ...query, after });
    for (const { instanceId, targetId } of links) {
      const own = targets.get(instanceId);
      if (own === undefined) targets.set(instanceId, [targetId]);
      else own.push(targetId);
    }
    after = links.length === LINKS_AT_ONCE ? links.at(-1) : undefined;
  } while (after !== undefined);
  return targets;
};

/** A page of readers. */
interface ReaderPage {
  /** In order; only existing ones. */
  readonly readerIds: readonly string[];
  /** Start of the next page; undefined after the last. */
  readonly next: string | undefined;
}

/** Instances whose foreign keys name any of the changed ones, after an id, in order. */
export const findHoldingReaders = async (
  transaction: Transaction,
  through: ReadingRelationship,
  {
    sourceIds,
    after,
    limit,
  }: { readonly sourceIds: readonly string[]; readonly after: string; readonly limit: number },
): Promise<ReaderPage> => {
  const fact = readersThrough(through.relationship).foreignKeyFact;
  const ids = await findLinkHolders(transaction, {
    ...{ contextId: through.reader.id, fact, instanceIds: sourceIds, after, limit },
  });
  return {
    readerIds: await existingReaders(transaction, through, ids),
    next: ids.length === limit ? ids.at(-1) : undefined,
  };
};
