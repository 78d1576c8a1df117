import { type Static, Type } from '@sinclair/typebox';
import { compileValidator } from '../validator';

/** Origin of a field of a rule. In a write, `object` may be a name; it is stored as an id beside the name. */
export const FieldSource = Type.Object(
  {
    object: Type.String({ minLength: 1, maxLength: 200, description: 'Id of the object; on write also its name.' }),
    name: Type.Optional(Type.String({ maxLength: 200, description: 'Name of the object.' })),
    field: Type.Optional(
      Type.String({ minLength: 1, maxLength: 512, description: "The object's field; default: the key of the rule's." }),
    ),
  },
  { $id: 'FieldSource', description: 'The field of an object that a field of a rule was taken over from.' },
);
export type FieldSource = Static<typeof FieldSource>;

/** Fields may have a `source` of another kind, which is stored but has no meaning here. */
export const checkFieldSource = compileValidator(FieldSource);
