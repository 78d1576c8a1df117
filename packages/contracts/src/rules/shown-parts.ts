import { Type } from '@sinclair/typebox';

/*
 * Parts of a rule document as they are shown to clients. The handler checks imports and reports each fault in its own sentence; the validating
 * schemas accept any value here.
 */

/** A reference to a value of the workspace in a written rule. */
const WrittenReference = Type.Unsafe<Readonly<Record<string, string>>>({
  $id: 'WrittenReference',
  type: 'object',
  description: 'A reference to a value of the workspace as it is written: `{"$ref": "<name of the value>"}`.',
  // Not as a property: readers of documents interpret a member of this name as a reference of their own.
  propertyNames: { const: '$ref' },
  minProperties: 1,
  maxProperties: 1,
  additionalProperties: { type: 'string', description: 'Name of the value.' },
});

/** The same reference in a stored rule document. */
const StoredReference = Type.Object(
  {
    $rb: Type.Unsafe<'globalValue'>({ type: 'string', enum: ['globalValue'], description: 'Always `globalValue`.' }),
    id: Type.String({ format: 'uuid', description: 'Id of the value, a UUID.' }),
    name: Type.Optional(Type.String({ description: 'Name that the value had when it was referred to.' })),
  },
  { $id: 'StoredReference', description: 'A reference to a value of the workspace as documents hold it.' },
);

const literal = Type.Unsafe<unknown>({ type: ['string', 'number', 'boolean', 'array', 'object', 'null'] });

/** An argument of a condition, an output or a default. */
export const RuleValue = Type.Union([WrittenReference, StoredReference, literal], {
  $id: 'RuleValue',
  description: 'Any JSON value, or a reference to a value of the workspace; lists and objects may hold references too.',
});

const folderParts = Type.Object({
  id: Type.Optional(Type.String({ description: 'Id of the folder, a UUID.' })),
  name: Type.Optional(Type.String({ description: 'Name of the folder.' })),
});

export const RuleFolder = Type.Union([folderParts, Type.String({ description: 'Id or name.' }), Type.Null()], {
  $id: 'RuleFolder',
  description: 'The folder that contains a rule; null for none.',
});

const binding = Type.Object(
  {
    slug: Type.String({ description: 'Slug of the context.' }),
    version: Type.Optional(
      Type.Union([Type.String(), Type.Integer({ minimum: 1 }), Type.Null()], {
        description: 'The version that runs: `latest`, the default, a version number, or the slug of an environment.',
      }),
    ),
    id: Type.Optional(Type.Unknown({ description: 'Accepted as exports of other programs have it; changes nothing.' })),
    name: Type.Optional(
      Type.Unknown({ description: 'Accepted as exports of other programs have it; changes nothing.' }),
    ),
  },
  { description: 'A context and the version of the rule that it runs.' },
);

export const RuleBinding = Type.Union([binding, Type.Null()], {
  $id: 'RuleBinding',
  description: 'The context that a rule is bound to; null for none.',
});
