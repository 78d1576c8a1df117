import { faultsOfBinding, type ContextModel } from '@decision/contexts';
import {
  type ContextDetail,
  type ContextListItem,
  type ContextSchema,
  type ContextRelationships,
  type OutgoingRelationship,
  type SavedContext,
} from '@decision/contracts';
import {
  type BoundRuleRecord,
  type ContextRecord,
  type ListedContext,
  type RelationshipRecord,
  type RuleInterface,
  type StoredContextWorld,
} from '@decision/persistence';
import { toAsset } from './context-directory';

/** Clients need the name of each fact. */
const named = <Fact extends { readonly key: string; readonly name?: string | undefined }>(fact: Fact): Fact => ({
  ...fact,
  name: fact.name ?? fact.key,
});

/** A schema in which every fact has a name: its key where none was given. */
export const withNames = ({ base, derived }: ContextSchema): ContextSchema => ({
  base: base.map(named),
  ...(derived === undefined ? {} : { derived: derived.map(named) }),
});

const settingsOf = (record: ContextRecord) => ({
  id: record.id,
  slug: record.slug,
  name: record.name,
  description: record.description,
  schema: withNames(record.schema),
  identity_fact: record.identityFact,
  auto_execute_decisions: record.autoExecuteDecisions,
  ttl_seconds: record.ttlSeconds,
  history_limit: record.historyLimit,
  on_schema_mismatch: record.onSchemaMismatch,
  source_objects: [...record.sourceObjects],
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

export const toListItem = (record: ListedContext): ContextListItem => ({
  ...settingsOf(record),
  folder: folderOf(record),
  bound_rules_count: record.boundRules,
  bound_flows_count: 0,
  relationships_count: record.relationships,
});

/** A rule that names the context, with the fields of the version that the binding means. */
export interface BoundRule {
  readonly rule: BoundRuleRecord;
  readonly fields: RuleInterface | undefined;
}

export const toContextDetail = (
  record: ContextRecord,
  model: ContextModel,
  bound: readonly BoundRule[],
  world: StoredContextWorld,
): ContextDetail => {
  const { outgoing, incoming } = toRelationships(record, world);
  return {
    ...settingsOf(record),
    folder: folderOf(record),
    bound_rules: bound.map(({ rule, fields }) => {
      const { id, name, slug, published, selector } = rule;
      const asset = rule.versionId !== null && fields ? toAsset(slug, rule.versionId, fields) : undefined;
      const problems = asset === undefined ? [] : faultsOfBinding(model, asset).map(({ message }) => message);
      return { id, name, slug, published, context_version: selector, ...(problems.length > 0 ? { problems } : {}) };
    }),
    bound_flows: [],
    relationships: { outgoing, incoming },
  };
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

/** The relationships of a context to contexts that are visible, and of those to it. */
export const toRelationships = (
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
