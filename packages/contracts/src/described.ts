import { type TSchema } from '@sinclair/typebox';

/** A copy of a schema that stands in several places, with what it means in this one. */
export const described = <S extends TSchema>(schema: S, description: string): S => ({ ...schema, description });

/** Under it a schema carries the one that documents show in its place. Validators never see it: JSON has no symbols. */
const SHOWN = Symbol('shown');

/**
 * A copy of a schema that validates as before, and that documents show as another one: for what a handler checks itself, with sentences of its
 * own, beyond what the schema refuses.
 */
export const shownAs = <S extends TSchema>(schema: S, shown: TSchema): S => ({ ...schema, [SHOWN]: shown });

/** The schema as documents show it, as JSON. */
export const asShown = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(asShown);
  if (schema === null || typeof schema !== 'object') return schema;
  const { [SHOWN]: shown, ...rest } = schema as { readonly [SHOWN]?: TSchema };
  const own = Object.entries(rest).filter(([, part]) => part !== undefined);
  const plain = Object.fromEntries(own.map(([key, part]) => [key, asShown(part)]));
  return shown === undefined ? plain : { ...(asShown(shown) as object), ...plain };
};
