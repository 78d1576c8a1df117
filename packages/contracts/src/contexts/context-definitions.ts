import { type Static, Type } from '@sinclair/typebox';
import { nullable, pageQueryFields, timestamp } from '../http/page-schema';
import { ContextSchema } from './context-schema';
import { type RelationType, relationTypes, type SchemaMismatchPolicy, schemaMismatchPolicies } from './context-words';

const uuid = Type.String({ format: 'uuid' });
const relationType = Type.Unsafe<RelationType>({ type: 'string', enum: [...relationTypes] });
const namedContext = Type.Object({ id: uuid, name: Type.String(), slug: Type.String() });

const settings = {
  id: uuid,
  slug: Type.String(),
  name: Type.String(),
  description: nullable(Type.String()),
  schema: ContextSchema,
  identity_fact: Type.String(),
  auto_execute_decisions: Type.Boolean(),
  ttl_seconds: nullable(Type.Integer()),
  history_limit: Type.Integer(),
  on_schema_mismatch: Type.Unsafe<SchemaMismatchPolicy>({ type: 'string', enum: [...schemaMismatchPolicies] }),
  source_objects: Type.Array(Type.String()),
  user_groups: Type.Array(Type.String()),
};

export const SavedContext = Type.Object(
  { ...settings, folder: nullable(Type.String()), created_at: timestamp, updated_at: timestamp },
  { $id: 'SavedContext', description: 'A context as it was saved.' },
);
export type SavedContext = Static<typeof SavedContext>;

const folder = nullable(Type.Object({ id: uuid, name: Type.String() }));

export const OutgoingRelationship = Type.Object(
  {
    id: uuid,
    relation_type: relationType,
    foreign_key_fact: Type.String(),
    name: Type.String(),
    description: nullable(Type.String()),
    created_at: timestamp,
    target_context: namedContext,
  },
  { $id: 'OutgoingRelationship', description: 'A relationship of a context to another.' },
);
export type OutgoingRelationship = Static<typeof OutgoingRelationship>;

const IncomingRelationship = Type.Object(
  {
    id: uuid,
    relation_type: relationType,
    foreign_key_fact: Type.String(),
    name: Type.String(),
    description: nullable(Type.String()),
    created_at: timestamp,
    source_context: namedContext,
  },
  { $id: 'IncomingRelationship', description: 'A relationship of another context to this one.' },
);

const relationships = { outgoing: Type.Array(OutgoingRelationship), incoming: Type.Array(IncomingRelationship) };

export const ContextRelationships = Type.Object(
  { context: namedContext, ...relationships },
  { $id: 'ContextRelationships', description: 'The relationships of a context.' },
);
export type ContextRelationships = Static<typeof ContextRelationships>;

const boundRule = Type.Object({
  id: uuid,
  name: Type.String(),
  slug: Type.String(),
  published: Type.Boolean(),
  context_version: Type.String({ description: '`latest`, a number, or the slug of an environment.' }),
  problems: Type.Optional(Type.Array(Type.String(), { description: 'Why the rule cannot run here.' })),
});

export const ContextDetail = Type.Object(
  {
    ...settings,
    folder,
    bound_rules: Type.Array(boundRule),
    bound_flows: Type.Array(Type.Unknown()),
    relationships: Type.Object(relationships),
    created_at: timestamp,
    updated_at: timestamp,
  },
  { $id: 'ContextDetail', description: 'A context with what is bound and related to it.' },
);
export type ContextDetail = Static<typeof ContextDetail>;

export const ContextListItem = Type.Object(
  {
    ...settings,
    folder,
    bound_rules_count: Type.Integer(),
    bound_flows_count: Type.Integer(),
    relationships_count: Type.Integer(),
    created_at: timestamp,
    updated_at: timestamp,
  },
  { $id: 'ContextListItem', description: 'A context in a list.' },
);
export type ContextListItem = Static<typeof ContextListItem>;

export const ListContextsAnswer = Type.Union(
  [
    Type.Array(ContextListItem),
    Type.Object({
      data: Type.Array(ContextListItem),
      next_cursor: nullable(Type.String()),
      cursor: nullable(Type.String({ description: 'The same as `next_cursor`.' })),
    }),
  ],
  { $id: 'ListContextsAnswer', description: 'Contexts, newest first: a bare list, or a page where one was asked for.' },
);

const filterText = Type.Optional(Type.String({ minLength: 1, maxLength: 500 }));

export const ListContextsQuery = Type.Object(
  { ...pageQueryFields, folder: filterText, user_group: filterText, name: filterText },
  { $id: 'ListContextsQuery', additionalProperties: false, description: 'Which contexts.' },
);

export const DeletedContextAnswer = Type.Object(
  {
    message: Type.String(),
    unbound_rules: Type.Array(Type.String(), { description: 'Slugs of rules that were bound to it.' }),
    unbound_flows: Type.Array(Type.String()),
    pending_evaluations_cancelled: Type.Integer(),
  },
  {
    $id: 'DeletedContext',
    description: 'A context that is gone, with its instances. Their data is removed in the background.',
  },
);
export type DeletedContextAnswer = Static<typeof DeletedContextAnswer>;

export const DeletedRelationship = Type.Object(
  { message: Type.String(), id: uuid },
  { $id: 'DeletedRelationship', description: 'A relationship that is gone.' },
);
