import { type compileValidator, type Operation, type Validator } from '@decision/contracts';

/** A schema of contracts. */
export type Schema = NonNullable<Operation['query']>;

/** The type of the values that a schema accepts. */
export type StaticOf<S extends Schema> = ReturnType<typeof compileValidator<S>> extends Validator<infer T> ? T : never;
