import { type Static, type TSchema } from '@sinclair/typebox';
import Ajv, { type ErrorObject } from 'ajv';
import addFormats from 'ajv-formats';

/** One fault of a value against its schema. */
export interface SchemaProblem {
  /** JSON pointer of the faulty place; empty for the whole value. */
  readonly path: string;
  /** A sentence fragment such as `must be string`. */
  readonly message: string;
}

export type Checked<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problems: readonly SchemaProblem[] };

/** Checks a value against a schema; never throws and never changes the value. At most 100 problems are reported. */
export type Validator<T> = (value: unknown) => Checked<T>;

const MAX_PROBLEMS = 100;

const ajv = new Ajv({ allErrors: true, strict: true, allowUnionTypes: true });
addFormats(ajv);

/** Compiles a schema once, at module load; schemas are ours, never a client's. */
export const compileValidator = <S extends TSchema>(schema: S): Validator<Static<S>> => {
  const validate = ajv.compile<Static<S>>(withoutIds(schema));
  return (value) =>
    validate(value) ? { ok: true, value } : { ok: false, problems: toProblems(validate.errors ?? []) };
};

/** A copy without names: a schema may stand in several others, and several times in one, where a name may be told only once. */
const withoutIds = (schema: TSchema): TSchema =>
  JSON.parse(JSON.stringify(schema), (key, value: unknown) => (key === '$id' ? undefined : value)) as TSchema; // still the schema it was

const toProblems = (errors: readonly ErrorObject[]): SchemaProblem[] =>
  errors.slice(0, MAX_PROBLEMS).map((error) => ({ path: error.instancePath, message: describe(error) }));

const describe = (error: ErrorObject): string => {
  const { keyword, message = 'is invalid' } = error;
  const params = error.params as Record<string, unknown>;
  if (keyword === 'additionalProperties') return `has an unknown field "${String(params['additionalProperty'])}"`;
  if (keyword === 'enum') return `${message}: ${(params['allowedValues'] as unknown[]).map(String).join(', ')}`;
  if (keyword === 'const') return `must be ${JSON.stringify(params['allowedValue'])}`;
  return message;
};
