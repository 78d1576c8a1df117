import { type TSchema } from '@sinclair/typebox';

/** A copy of a schema that is used in several places, with its meaning in this one. */
export const described = <S extends TSchema>(schema: S, description: string): S => ({ ...schema, description });

/** Key under which a schema carries its replacement for documents. Validators never see it: JSON has no symbols. */
const SHOWN = Symbol('shown');

/**
 * A copy of a schema that validates as before, but is shown as another one in documents: for values that a handler checks further, with its own
 * error sentences.
 */
export const shownAs = <S extends TSchema>(schema: S, shown: TSchema): S => ({ ...schema, [SHOWN]: shown });

/** The schema as shown in documents, as JSON. */
export const asShown = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(asShown);
  if (schema === null || typeof schema !== 'object') return schema;
  const { [SHOWN]: shown, ...rest } = schema as { readonly [SHOWN]?: TSchema };
  const own = Object.entries(rest).filter(([, part]) => part !== undefined);
  const plain = Object.fromEntries(own.map(([key, part]) => [key, asShown(part)]));
  return shown === undefined ? plain : { ...(asShown(shown) as object), ...plain };
};
