import { type Static, Type } from '@sinclair/typebox';
import { ContextSchema } from './context-schema';
import {
  contextLimits,
  type RelationType,
  relationTypes,
  type SchemaMismatchPolicy,
  schemaMismatchPolicies,
} from './context-words';
import { described } from '../described';

const nullableText = Type.Union([Type.String({ maxLength: 100_000 }), Type.Null()]);

const settings = {
  description: Type.Optional(described(nullableText, 'Text for people, at most 100,000 characters; null for none.')),
  auto_execute_decisions: Type.Optional(
    Type.Boolean({ default: true, description: 'False: submissions merge facts and start nothing new.' }),
  ),
  ttl_seconds: Type.Optional(
    Type.Union(
      [
        Type.Integer({ minimum: contextLimits.ttlLeastSeconds, maximum: contextLimits.ttlMostSeconds }),
        Type.Null({ description: 'Instances never expire.' }),
      ],
      { description: 'Seconds after its last write at which an instance expires. Default: never.' },
    ),
  ),
  history_limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: contextLimits.historyMost,
      default: contextLimits.historyDefault,
      description: 'Entries of history that are kept for each tracked fact of an instance, 1 to 10,000. Default 100.',
    }),
  ),
  on_schema_mismatch: Type.Optional(
    Type.Unsafe<SchemaMismatchPolicy>({
      type: 'string',
      enum: [...schemaMismatchPolicies],
      default: 'ignore',
      description:
        'What becomes of facts that the schema does not know or whose type is another: `ignore`, the default, leaves them out, `reject` refuses the record, `store` keeps facts that are not declared and refuses the record for any other.',
    }),
  ),
  source_objects: Type.Optional(
    Type.Array(Type.String({ maxLength: 200 }), {
      maxItems: 100,
      description: 'Objects that the facts were taken over from, at most 100; kept, and of no meaning to the service.',
    }),
  ),
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

const name = Type.String({ minLength: 1, maxLength: 500 });
const identityFact = Type.String({
  minLength: 1,
  maxLength: contextLimits.factNameLength,
  description: 'The base fact, a string or number, that names an instance.',
});

export const CreateContextRequest = Type.Object(
  {
    name: described(name, 'Name for people, 1 to 500 characters.'),
    slug: Type.Optional(
      Type.String({
        pattern: '^[a-z0-9]+(-[a-z0-9]+)*$',
        maxLength: 200,
        description: 'How paths call it. Default: made of the name. Neither `batch` nor of the form of an id.',
      }),
    ),
    schema: ContextSchema,
    identity_fact: identityFact,
    ...settings,
  },
  { $id: 'CreateContextRequest', additionalProperties: false, description: 'A new context.' },
);
export type CreateContextRequest = Static<typeof CreateContextRequest>;

export const UpdateContextRequest = Type.Object(
  {
    name: Type.Optional(described(name, 'Name for people, 1 to 500 characters. Default: it stays.')),
    schema: Type.Optional(ContextSchema),
    identity_fact: Type.Optional(identityFact),
    ...settings,
  },
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
    description: Type.Optional(described(nullableText, 'Text for people, at most 100,000 characters; null for none.')),
  },
  { $id: 'CreateRelationshipRequest', additionalProperties: false, description: 'A relationship to another context.' },
);
export type CreateRelationshipRequest = Static<typeof CreateRelationshipRequest>;
