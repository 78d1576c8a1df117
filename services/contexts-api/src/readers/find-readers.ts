import { type ReaderPlace, readersThrough, type Relationship } from '@decision/contexts';
import { findInstances, findLinkHolders, findLinkTargets, type Transaction } from '@decision/persistence';
import { type ContextDirectory, type ContextInUse } from '../definitions/context-directory';

/** A relationship through which instances of another context read those of a changed one. */
export interface ReadingRelationship {
  readonly relationship: Relationship;
  readonly reader: ContextInUse;
}

/** The relationships to a context that formulas or assets of the other side read (C111), in the order in which readers are told. */
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

/** A page of readers. */
export interface ReaderPage {
  /** In order; those that exist. */
  readonly readerIds: readonly string[];
  /** Where the next page begins; undefined after the last. */
  readonly next: string | undefined;
}

/** Instances that read any of the changed ones through a relationship, after an id, in order. */
export const findReaderPage = async (
  transaction: Transaction,
  { relationship, reader }: ReadingRelationship,
  source: Pick<ContextInUse, 'id'>,
  {
    sourceIds,
    after,
    limit,
  }: { readonly sourceIds: readonly string[]; readonly after: string; readonly limit: number },
): Promise<ReaderPage> => {
  const place: ReaderPlace = readersThrough(relationship);
  const page = { fact: place.foreignKeyFact, instanceIds: sourceIds, after, limit };
  const ids =
    place.by === 'target'
      ? await findLinkTargets(transaction, { ...page, contextId: source.id })
      : await findLinkHolders(transaction, { ...page, contextId: reader.id });
  const existing = await findInstances(transaction, reader.id, ids);
  return {
    readerIds: existing.map(({ instanceId }) => instanceId),
    next: ids.length === limit ? ids.at(-1) : undefined,
  };
};
