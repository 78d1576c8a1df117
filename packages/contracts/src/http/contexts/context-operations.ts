import {
  ContextDetail,
  ContextRelationships,
  CreateContextRequest,
  CreateRelationshipRequest,
  DeletedContextAnswer,
  DeletedRelationship,
  ListContextsAnswer,
  ListContextsQuery,
  OutgoingRelationship,
  SavedContext,
  UpdateContextRequest,
} from '../../contexts/context-definitions';
import { contextSettings } from '../../contexts/context-settings';
import { answerExample } from '../../resource';
import { type Operation } from '../operation';

const shared = {
  service: 'contexts-api',
  tag: 'Contexts',
  path: '/api/v1/admin/contexts',
  pathParameters: [],
} as const;
const id = { name: 'id', description: 'Id or slug of the context.', example: 'd2b5e0d7-3f8e-4a4c-8f0b-2f6b7f0a9c11' };
const one = { ...shared, path: '/api/v1/admin/contexts/{id}', pathParameters: [id] } as const;
const related = { ...shared, path: '/api/v1/admin/contexts/{id}/relationships', pathParameters: [id] } as const;

const settings = answerExample(contextSettings);
const saved: SavedContext = {
  id: id.example,
  slug: 'orders',
  ...settings,
  user_groups: [],
  folder: null,
  created_at: '2026-01-15T09:30:00.000Z',
  updated_at: '2026-01-15T09:30:00.000Z',
};
const relationship = {
  id: '6a0c4a51-9d3b-4a6f-8d4c-7e210b0f1a52',
  relation_type: 'has_many' as const,
  foreign_key_fact: 'customer_id',
  name: 'orders',
  description: null,
  created_at: saved.created_at,
  target_context: { id: id.example, name: 'Orders', slug: 'orders' },
};

export const listContextsOperation = {
  ...shared,
  id: 'listContexts',
  method: 'get',
  summary: 'List contexts',
  description: 'Newest first: a bare array where neither `limit` nor `cursor` is given, else one page.',
  entitlement: 'contexts.read',
  query: ListContextsQuery,
  success: {
    status: 200,
    description: 'The contexts that the key may see.',
    schema: ListContextsAnswer,
    example: [{ ...saved, bound_rules_count: 1, bound_flows_count: 0, relationships_count: 0 }],
  },
  errors: [],
} as const satisfies Operation;

export const createContextOperation = {
  ...shared,
  id: 'createContext',
  method: 'post',
  summary: 'Create a context',
  description:
    'Sent again by the same key, it answers the context that the first call made, as long as it has not been changed or used; with a `slug`, as long as it is the same context.',
  entitlement: 'contexts.write',
  body: {
    schema: CreateContextRequest,
    large: true,
    description: 'The context.',
    example: { name: settings.name, schema: settings.schema, identity_fact: settings.identity_fact },
  },
  success: { status: 200, description: 'The context as it was saved.', schema: SavedContext, example: saved },
  errors: ['context_invalid', 'context_slug_taken'],
} as const satisfies Operation;

export const getContextOperation = {
  ...one,
  id: 'getContext',
  method: 'get',
  summary: 'Show a context',
  description:
    'The definition with bound rules and flows, what keeps them from running, and relationships to contexts that the key may see.',
  entitlement: 'contexts.read',
  success: {
    status: 200,
    description: 'The context, with what is bound and related to it.',
    schema: ContextDetail,
    example: { ...saved, bound_rules: [], bound_flows: [], relationships: { outgoing: [], incoming: [] } },
  },
  errors: ['context_not_found'],
} as const satisfies Operation;

export const updateContextOperation = {
  ...one,
  id: 'updateContext',
  method: 'put',
  summary: 'Change a context',
  description: 'Instances stay. What would make what they hold wrong is refused.',
  entitlement: 'contexts.write',
  body: { schema: UpdateContextRequest, large: true, description: 'What changes.', example: { ttl_seconds: 86_400 } },
  success: { status: 200, description: 'The context as it now is.', schema: SavedContext, example: saved },
  errors: ['context_not_found', 'context_invalid', 'context_change_refused'],
} as const satisfies Operation;

export const deleteContextOperation = {
  ...one,
  id: 'deleteContext',
  method: 'delete',
  summary: 'Delete a context with its instances',
  description:
    'After the answer the context, its instances and its relationships no longer exist for any caller, and its name and slug can be used again. ' +
    'The stored data is removed afterwards, in steps.',
  entitlement: 'contexts.write',
  success: {
    status: 200,
    description: 'What went with it.',
    schema: DeletedContextAnswer,
    example: {
      message: 'Context "orders" was deleted, with its instances; their data is removed in the background.',
      unbound_rules: ['order-discount'],
      unbound_flows: [],
      pending_evaluations_cancelled: 0,
    },
  },
  errors: ['context_not_found', 'context_in_use'],
} as const satisfies Operation;

export const listRelationshipsOperation = {
  ...related,
  id: 'listRelationships',
  method: 'get',
  summary: 'List relationships of a context',
  description: 'Only relationships to contexts that the key may see.',
  entitlement: 'contexts.read',
  success: {
    status: 200,
    description: 'Relationships to other contexts, and of others to this one.',
    schema: ContextRelationships,
    example: {
      context: { id: id.example, name: 'Customers', slug: 'customers' },
      outgoing: [relationship],
      incoming: [],
    },
  },
  errors: ['context_not_found'],
} as const satisfies Operation;

export const createRelationshipOperation = {
  ...related,
  id: 'createRelationship',
  method: 'post',
  summary: 'Relate a context to another',
  description:
    'Answers once the links of all instances are made. Where `deadline_exceeded` says that there are too many for one request, the same request again goes on behind it; one that was already carried out is answered as it was.',
  entitlement: 'contexts.write',
  body: {
    schema: CreateRelationshipRequest,
    description: 'The relationship.',
    example: { to_context_id: id.example, relation_type: 'has_many', foreign_key_fact: 'customer_id', name: 'orders' },
  },
  success: { status: 200, description: 'The relationship.', schema: OutgoingRelationship, example: relationship },
  errors: ['context_not_found', 'context_invalid', 'relationship_name_taken', 'deadline_exceeded'],
} as const satisfies Operation;

export const deleteRelationshipOperation = {
  ...shared,
  path: '/api/v1/admin/contexts/{id}/relationships/{relationship}',
  pathParameters: [id, { name: 'relationship', description: 'Id of the relationship.', example: relationship.id }],
  id: 'deleteRelationship',
  method: 'delete',
  summary: 'Delete a relationship',
  description: 'Facts stay as they are. Refused where a formula or a bound rule or flow reads through it.',
  entitlement: 'contexts.write',
  success: {
    status: 200,
    description: 'The relationship was deleted.',
    schema: DeletedRelationship,
    example: { message: 'Relationship "orders" was deleted.', id: relationship.id },
  },
  errors: ['context_not_found', 'relationship_not_found', 'context_invalid'],
} as const satisfies Operation;

export const contextOperations = [
  listContextsOperation,
  createContextOperation,
  getContextOperation,
  updateContextOperation,
  deleteContextOperation,
  listRelationshipsOperation,
  createRelationshipOperation,
  deleteRelationshipOperation,
];
