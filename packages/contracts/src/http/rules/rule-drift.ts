import { type Static, Type } from '@sinclair/typebox';

const driftKinds = ['object_missing', 'field_missing', 'type_changed', 'value_archived'] as const;
type DriftKind = (typeof driftKinds)[number];

/** One difference between a rule and the objects behind it. */
export const RuleDrift = Type.Object(
  {
    kind: Type.Unsafe<DriftKind>({
      type: 'string',
      enum: [...driftKinds],
      description:
        '`object_missing`: the source was deleted, or is not visible to the key. `field_missing`: the object has no such field. `type_changed`: it ' +
        'has another type. `value_archived`: the rule uses a value that its object no longer generates.',
    }),
    message: Type.String({ description: 'The same in a sentence.' }),
    side: Type.Optional(
      Type.Unsafe<'request' | 'response'>({
        type: 'string',
        enum: ['request', 'response'],
        description: 'Whether the field is an input (`request`) or an output (`response`).',
      }),
    ),
    key: Type.Optional(Type.String({ description: 'Key of the field of the rule.' })),
    object: Type.Optional(
      Type.Object(
        {
          id: Type.Optional(Type.String({ description: 'Id of the object.' })),
          name: Type.Optional(Type.String({ description: 'Name of the object.' })),
        },
        { description: 'Source.' },
      ),
    ),
    field: Type.Optional(Type.String({ description: 'The field of the object.' })),
    rule_type: Type.Optional(Type.String({ description: 'Type that the rule gives the field.' })),
    object_type: Type.Optional(Type.String({ description: 'Type that it has in the object now.' })),
    value: Type.Optional(
      Type.Object(
        {
          id: Type.String({ description: 'Id of the value.' }),
          name: Type.String({ description: 'Name of the value.' }),
        },
        { description: 'The value that is archived.' },
      ),
    ),
  },
  { $id: 'RuleDrift', description: 'What changed in an object since a rule took it over.' },
);
export type RuleDrift = Static<typeof RuleDrift>;
