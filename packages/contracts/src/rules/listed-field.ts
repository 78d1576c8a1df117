import { type Static, Type } from '@sinclair/typebox';
import { described } from '../described';

const nullableText = Type.Union([Type.String(), Type.Null()]);

/** A field in a rule list. Lists use snake case and the JSON type names. */
export const ListedField = Type.Object(
  {
    key: Type.String({ description: 'Key of the field; dots join the names of nested objects.' }),
    show: Type.Boolean({ description: 'Whether editors show the field.' }),
    name: Type.String({ description: 'Name for people.' }),
    description: described(nullableText, 'Text for people; null if there is none.'),
    type: Type.Optional(
      Type.Unsafe<'string' | 'number' | 'boolean' | 'object' | 'array'>({
        type: 'string',
        enum: ['string', 'number', 'boolean', 'object', 'array'],
        description: 'JSON type of the field; absent for a function.',
      }),
    ),
    default_value: Type.Optional(Type.Unknown({ description: 'Stands where the field is missing.' })),
    default_computed_value: Type.Optional(
      described(nullableText, 'Formula whose answer stands where the field is missing; null if there is none.'),
    ),
    transform: Type.Optional(described(nullableText, 'Kept for editors; no answer depends on it.')),
  },
  {
    $id: 'ListedField',
    description: 'A field of a listed rule. A date is a string, a list an array, a function has no type.',
  },
);
export type ListedField = Static<typeof ListedField>;
