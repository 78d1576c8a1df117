import { compileValidator, type ErrorCode } from '@decision/contracts';
import { parseJsonBody } from './json-body';
import { invalidRequest } from './request-problems';
import { type Schema, type StaticOf } from '../static-of';
import { requireStorable } from './unstorable-text';

/**
 * Reads a JSON body of this schema. Throws as {@link parseJsonBody} does, `invalid_request` that lists every problem, and `unstorable` where a text
 * holds what no database takes; undefined: any text may stand there.
 */
export const createBodyReader = <S extends Schema>(
  schema: S,
  unstorable: ErrorCode | undefined,
): ((bytes: Buffer) => StaticOf<S>) => {
  const check = compileValidator(schema);
  return (bytes) => {
    const given = parseJsonBody(bytes);
    if (unstorable !== undefined) requireStorable(given, bytes, unstorable);
    const checked = check(given);
    if (!checked.ok) throw invalidRequest('body', checked.problems);
    return checked.value; // the validator of this very schema accepted it
  };
};
