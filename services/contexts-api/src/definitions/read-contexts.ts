import { type ContextModel, faultsOfBinding } from '@decision/contexts';
import {
  type AssetKind,
  type ContextDetail,
  type ContextListItem,
  type ContextRelationships,
  type ContextSchema,
  contextSettings,
  type OutgoingRelationship,
  type SavedContext,
  toAnswer,
} from '@decision/contracts';
import { contextNotFound, type DefinitionsContext, toAsset, toWorld, wholeWorkspace } from '@decision/operations';
import {
  type AssetInterface,
  type BoundAssetRecord,
  type ContextFilters,
  type ContextRecord,
  findBoundAssets,
  findContextByName,
  findOriginRules,
  listContexts as listStoredContexts,
  type ListedContext,
  loadAssetInterface,
  loadContextWorld,
  type PageRequest,
  type OriginRule,
  type RelationshipRecord,
  type StoredContextWorld,
  type Transaction,
  type WorkspaceAccess,
} from '@decision/persistence';
import { requireValid } from './savable';

interface ListedContexts {
  readonly data: ContextListItem[];
  readonly next_cursor: string | null;
}

export const listContexts = (
  { database }: Pick<DefinitionsContext, 'database'>,
  access: WorkspaceAccess,
  filters: ContextFilters,
  page: PageRequest | undefined,
): Promise<ListedContexts> =>
  database.inWorkspace(access, async (transaction) => {
    const { contexts, nextCursor } = await listStoredContexts(transaction, filters, page);
    return { data: contexts.map(toListItem), next_cursor: nextCursor };
  });

/** A context with the related rules and contexts that the access sees. Throws `context_not_found`. */
export const getContext = async (
  { database }: Pick<DefinitionsContext, 'database'>,
  access: WorkspaceAccess,
  name: string,
): Promise<ContextDetail> => {
  const visible = await database.inWorkspace(access, async (transaction) => {
    const record = await findContextByName(transaction, name);
    if (record === undefined) throw contextNotFound(name);
    const bound = await readBound(transaction, await findBoundAssets(transaction, record.slug));
    return { record, bound, world: await loadContextWorld(transaction) };
  });
  const whole = await database.inWorkspace(wholeWorkspace(access), loadContextWorld);
  return toContextDetail(visible.record, requireValid(visible.record.id, toWorld(whole)), visible.bound, visible.world);
};

/** Throws `context_not_found`. */
export const listRelationships = (
  { database }: Pick<DefinitionsContext, 'database'>,
  access: WorkspaceAccess,
  name: string,
): Promise<ContextRelationships> =>
  database.inWorkspace(access, async (transaction) => {
    const record = await findContextByName(transaction, name);
    if (record === undefined) throw contextNotFound(name);
    return toRelationships(record, await loadContextWorld(transaction));
  });

/** Clients need the name of each fact. */
const named = <Fact extends { readonly key: string; readonly name?: string | undefined }>(fact: Fact): Fact => ({
  ...fact,
  name: fact.name ?? fact.key,
});

/** A schema in which every fact has a name: its key by default. */
export const withNames = ({ base, derived }: ContextSchema): ContextSchema => ({
  base: base.map(named),
  ...(derived === undefined ? {} : { derived: derived.map(named) }),
});

const settingsOf = (record: ContextRecord) => ({
  id: record.id,
  slug: record.slug,
  ...toAnswer(contextSettings, record),
  schema: withNames(record.schema),
  user_groups: [...record.userGroups],
  created_at: record.createdAt,
  updated_at: record.updatedAt,
});

const folderOf = ({ folderId, folderName }: ContextRecord) =>
  folderId === null || folderName === null ? null : { id: folderId, name: folderName };

export const toSavedContext = (record: ContextRecord): SavedContext => ({
  ...settingsOf(record),
  folder: record.folderName,
});

const toListItem = (record: ListedContext): ContextListItem => ({
  ...settingsOf(record),
  folder: folderOf(record),
  bound_rules_count: record.boundRules,
  bound_flows_count: record.boundFlows,
  relationships_count: record.relationships,
});

/** A rule or flow that names the context, with the fields of the version that the binding selects. */
interface BoundAssetToShow {
  readonly record: BoundAssetRecord;
  readonly fields: AssetInterface | undefined;
  /** Only for flows; undefined if it is not visible. */
  readonly origin: OriginRule | undefined;
}

const readBound = async (
  transaction: Transaction,
  records: readonly BoundAssetRecord[],
): Promise<readonly BoundAssetToShow[]> => {
  const flows = records.filter(({ kind }) => kind === 'flow').map(({ id }) => id);
  const origins = await findOriginRules(transaction, flows);
  const bound: BoundAssetToShow[] = [];
  for (const record of records) {
    const fields = record.versionId === null ? undefined : await loadAssetInterface(transaction, record.versionId);
    bound.push({ record, fields, origin: origins.get(record.id) });
  }
  return bound;
};

const toContextDetail = (
  record: ContextRecord,
  model: ContextModel,
  bound: readonly BoundAssetToShow[],
  world: StoredContextWorld,
): ContextDetail => {
  const { outgoing, incoming } = toRelationships(record, world);
  return {
    ...settingsOf(record),
    folder: folderOf(record),
    bound_rules: bound.filter(isOf('rule')).map((one) => toBound(model, one)),
    bound_flows: bound.filter(isOf('flow')).map((one) => ({ ...toBound(model, one), origin_rule: one.origin ?? null })),
    relationships: { outgoing, incoming },
  };
};

const isOf =
  (wanted: AssetKind) =>
  ({ record: { kind } }: BoundAssetToShow): boolean =>
    kind === wanted;

const toBound = (model: ContextModel, { record, fields }: BoundAssetToShow) => {
  const { kind, id, name, slug, published, selector, versionId } = record;
  const asset = versionId !== null && fields ? toAsset(kind, slug, versionId, fields) : undefined;
  const problems = asset === undefined ? [] : faultsOfBinding(model, asset).map(({ message }) => message);
  return { id, name, slug, published, context_version: selector, ...(problems.length > 0 ? { problems } : {}) };
};

const namesOf = ({ id, name, slug }: ContextRecord) => ({ id, name, slug });

const partsOf = ({ id, type, foreignKeyFact, name, description, createdAt }: RelationshipRecord) => ({
  ...{ id, relation_type: type, foreign_key_fact: foreignKeyFact, name, description },
  created_at: createdAt,
});

export const toOutgoing = (relationship: RelationshipRecord, target: ContextRecord): OutgoingRelationship => ({
  ...partsOf(relationship),
  target_context: namesOf(target),
});

/** The relationships of a context from and to visible contexts. */
const toRelationships = (
  record: ContextRecord,
  { contexts, relationships }: StoredContextWorld,
): ContextRelationships => {
  const byId = new Map(contexts.map((context) => [context.id, context]));
  return {
    context: namesOf(record),
    outgoing: relationships.flatMap((relationship) => {
      const target = byId.get(relationship.toContextId);
      return relationship.fromContextId === record.id && target ? [toOutgoing(relationship, target)] : [];
    }),
    incoming: relationships.flatMap((relationship) => {
      const source = byId.get(relationship.fromContextId);
      if (relationship.toContextId !== record.id || source === undefined) return [];
      return [{ ...partsOf(relationship), source_context: namesOf(source) }];
    }),
  };
};
