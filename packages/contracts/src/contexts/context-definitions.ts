import { type Static, Type } from '@sinclair/typebox';
import { described } from '../described';
import { nullable, pageQueryFields, timestamp } from '../page-schema';
import { answerFields, changeFields, creationFields } from '../settings';
import { contextSettings } from './context-settings';
import { contextLimits, type RelationType, relationTypes } from './context-words';

const placement = {
  user_groups: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      maxItems: 100,
      description:
        'Names of the user groups that see it, at most 100. A key that is restricted to groups gives its own alone.',
    }),
  ),
  folder: Type.Optional(
    Type.Union([Type.String({ maxLength: 200 }), Type.Null()], {
      description: 'Id or name of a folder of contexts, at most 200 characters; null for none.',
    }),
  ),
};

export const CreateContextRequest = Type.Object(
  {
    slug: Type.Optional(
      Type.String({
        pattern: '^[a-z0-9]+(-[a-z0-9]+)*$',
        maxLength: 200,
        description: 'How paths call it. Default: made of the name. Neither `batch` nor of the form of an id.',
      }),
    ),
    ...creationFields(contextSettings),
    ...placement,
  },
  { $id: 'CreateContextRequest', additionalProperties: false, description: 'A new context.' },
);
export type CreateContextRequest = Static<typeof CreateContextRequest>;

export const UpdateContextRequest = Type.Object(
  { ...changeFields(contextSettings), ...placement },
  { $id: 'UpdateContextRequest', additionalProperties: false, description: 'What changes of a context.' },
);
export type UpdateContextRequest = Static<typeof UpdateContextRequest>;

export const CreateRelationshipRequest = Type.Object(
  {
    to_context_id: Type.String({ format: 'uuid', description: 'Id of the other context, a UUID.' }),
    relation_type: Type.Unsafe<RelationType>({
      type: 'string',
      enum: [...relationTypes],
      description:
        '`has_many` and `has_one`: instances of the other context name one of this one; `belongs_to`: the reverse.',
    }),
    foreign_key_fact: Type.String({
      minLength: 1,
      maxLength: contextLimits.factNameLength,
      description:
        'Of `belongs_to` a fact of this context, else of the other one; it holds the identity of its counterpart.',
    }),
    name: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
        maxLength: contextLimits.factNameLength,
        description: 'How formulas call it: `$name`. Default: the slug of the other context with _ for -.',
      }),
    ),
    description: Type.Optional(
      described(
        nullable(Type.String({ maxLength: 100_000 })),
        'Text for people, at most 100,000 characters; null for none.',
      ),
    ),
  },
  { $id: 'CreateRelationshipRequest', additionalProperties: false, description: 'A relationship to another context.' },
);
export type CreateRelationshipRequest = Static<typeof CreateRelationshipRequest>;

const uuid = Type.String({ format: 'uuid' });
const relationType = Type.Unsafe<RelationType>({ type: 'string', enum: [...relationTypes] });
const namedContext = Type.Object({
  id: described(uuid, 'Id of the context, a UUID.'),
  name: Type.String({ description: 'Name of the context.' }),
  slug: Type.String({ description: 'Slug of the context.' }),
});

const settings = {
  id: described(uuid, 'Id, a UUID.'),
  slug: Type.String({ description: 'How paths call it.' }),
  ...answerFields(contextSettings),
  user_groups: Type.Array(Type.String(), {
    description: 'Names of the user groups that see it. Empty: every key of the workspace does.',
  }),
};

export const SavedContext = Type.Object(
  {
    ...settings,
    folder: described(nullable(Type.String()), 'Name of the folder; null if it is in none.'),
    created_at: described(timestamp, 'When it was made, ISO 8601 in UTC.'),
    updated_at: described(timestamp, 'When it was last changed, ISO 8601 in UTC.'),
  },
  { $id: 'SavedContext', description: 'A context as it was saved.' },
);
export type SavedContext = Static<typeof SavedContext>;

const folder = nullable(
  Type.Object({
    id: described(uuid, 'Id of the folder, a UUID.'),
    name: Type.String({ description: 'Name of the folder.' }),
  }),
);

export const OutgoingRelationship = Type.Object(
  {
    id: described(uuid, 'Id, a UUID.'),
    relation_type: described(relationType, '`has_many`, `has_one` or `belongs_to`.'),
    foreign_key_fact: Type.String({ description: 'The fact that holds the identity of the counterpart.' }),
    name: Type.String({ description: 'How formulas call it: `$name`.' }),
    description: described(nullable(Type.String()), 'Text for people; null if there is none.'),
    created_at: described(timestamp, 'When it was made, ISO 8601 in UTC.'),
    target_context: described(namedContext, 'The other context.'),
  },
  { $id: 'OutgoingRelationship', description: 'A relationship of a context to another.' },
);
export type OutgoingRelationship = Static<typeof OutgoingRelationship>;

const IncomingRelationship = Type.Object(
  {
    id: described(uuid, 'Id, a UUID.'),
    relation_type: described(relationType, '`has_many`, `has_one` or `belongs_to`, as the other context has it.'),
    foreign_key_fact: Type.String({ description: 'The fact that holds the identity of the counterpart.' }),
    name: Type.String({ description: 'How formulas of the other context call it: `$name`.' }),
    description: described(nullable(Type.String()), 'Text for people; null if there is none.'),
    created_at: described(timestamp, 'When it was made, ISO 8601 in UTC.'),
    source_context: described(namedContext, 'The other context.'),
  },
  { $id: 'IncomingRelationship', description: 'A relationship of another context to this one.' },
);

const relationships = {
  outgoing: Type.Array(OutgoingRelationship, { description: 'Relationships of this context to others.' }),
  incoming: Type.Array(IncomingRelationship, { description: 'Relationships of others to this context.' }),
};

export const ContextRelationships = Type.Object(
  { context: described(namedContext, 'The context.'), ...relationships },
  { $id: 'ContextRelationships', description: 'The relationships of a context.' },
);
export type ContextRelationships = Static<typeof ContextRelationships>;

const boundAsset = {
  id: described(uuid, 'Id, a UUID.'),
  name: Type.String({ description: 'Name for people.' }),
  slug: Type.String({ description: 'Name in addresses, unique in its workspace.' }),
  published: Type.Boolean({ description: 'Whether a published version is in service.' }),
  context_version: Type.String({ description: '`latest`, a number, or the slug of an environment.' }),
  problems: Type.Optional(Type.Array(Type.String(), { description: 'Why it cannot run here.' })),
};

const boundRule = Type.Object(boundAsset);
const originRule = Type.Object({
  id: described(uuid, 'Id, a UUID.'),
  name: Type.String({ description: 'Name for people.' }),
  slug: Type.String({ description: 'Name in addresses, unique in its workspace.' }),
});
const boundFlow = Type.Object({
  ...boundAsset,
  origin_rule: described(
    nullable(originRule),
    'The rule whose input the flow takes; null if it was deleted or the key does not see it.',
  ),
});

export const ContextDetail = Type.Object(
  {
    ...settings,
    folder: described(folder, 'The folder; null if it is in none.'),
    bound_rules: Type.Array(boundRule, { description: 'Rules that are bound to the context.' }),
    bound_flows: Type.Array(boundFlow, { description: 'Flows that are bound to the context.' }),
    relationships: Type.Object(relationships, { description: 'Relationships to and from other contexts.' }),
    created_at: described(timestamp, 'When it was made, ISO 8601 in UTC.'),
    updated_at: described(timestamp, 'When it was last changed, ISO 8601 in UTC.'),
  },
  { $id: 'ContextDetail', description: 'A context with what is bound and related to it.' },
);
export type ContextDetail = Static<typeof ContextDetail>;

export const ContextListItem = Type.Object(
  {
    ...settings,
    folder: described(folder, 'The folder; null if it is in none.'),
    bound_rules_count: Type.Integer({ description: 'How many rules are bound to it.' }),
    bound_flows_count: Type.Integer({ description: 'How many flows are bound to it.' }),
    relationships_count: Type.Integer({ description: 'How many relationships it has, to and from others.' }),
    created_at: described(timestamp, 'When it was made, ISO 8601 in UTC.'),
    updated_at: described(timestamp, 'When it was last changed, ISO 8601 in UTC.'),
  },
  { $id: 'ContextListItem', description: 'A context in a list.' },
);
export type ContextListItem = Static<typeof ContextListItem>;

export const ListContextsAnswer = Type.Union(
  [
    Type.Array(ContextListItem),
    Type.Object({
      data: Type.Array(ContextListItem, { description: 'The entries of this page.' }),
      next_cursor: described(
        nullable(Type.String()),
        'Give it as `cursor` to read the next page; null on the last page.',
      ),
      cursor: described(
        nullable(Type.String({ description: 'The same as `next_cursor`.' })),
        'The same as `next_cursor`.',
      ),
    }),
  ],
  { $id: 'ListContextsAnswer', description: 'Contexts, newest first: a bare list, or a page where one was asked for.' },
);

const filterText = Type.Optional(Type.String({ minLength: 1, maxLength: 500 }));

export const ListContextsQuery = Type.Object(
  {
    ...pageQueryFields,
    folder: described(filterText, 'Only contexts in the folder of this id or name, 1 to 500 characters.'),
    user_group: described(filterText, 'Only contexts that carry this group, 1 to 500 characters.'),
    name: described(filterText, 'Only contexts of exactly this name, 1 to 500 characters.'),
  },
  { $id: 'ListContextsQuery', additionalProperties: false, description: 'Which contexts.' },
);

export const DeletedContextAnswer = Type.Object(
  {
    message: Type.String({ description: 'What was done, in a sentence.' }),
    unbound_rules: Type.Array(Type.String(), { description: 'Slugs of rules that were bound to it.' }),
    unbound_flows: Type.Array(Type.String(), { description: 'Slugs of flows that were bound to it.' }),
    pending_evaluations_cancelled: Type.Integer({ description: 'Registered evaluations that ended with it.' }),
  },
  {
    $id: 'DeletedContext',
    description: 'A deleted context and its instances. Their data is removed in the background.',
  },
);
export type DeletedContextAnswer = Static<typeof DeletedContextAnswer>;

export const DeletedRelationship = Type.Object(
  {
    message: Type.String({ description: 'What was done, in a sentence.' }),
    id: described(uuid, 'Id of the relationship, a UUID.'),
  },
  { $id: 'DeletedRelationship', description: 'A deleted relationship.' },
);
