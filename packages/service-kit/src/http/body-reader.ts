import { compileValidator } from '@decision/contracts';
import { parseJsonBody } from './json-body';
import { invalidRequest } from './request-problems';
import { type Schema, type StaticOf } from './static-of';

/** Reads a JSON body of this schema. Throws as {@link parseJsonBody} does, and `invalid_request` that lists every problem. */
export const createBodyReader = <S extends Schema>(schema: S): ((bytes: Buffer) => StaticOf<S>) => {
  const check = compileValidator(schema);
  return (bytes) => {
    const checked = check(parseJsonBody(bytes));
    if (!checked.ok) throw invalidRequest('body', checked.problems);
    return checked.value; // the validator of this very schema accepted it
  };
};
