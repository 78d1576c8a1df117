import { TokenError } from './token-error';

/** The fields of a JSON object. @throws {TokenError} that shows nothing of it. */
export const readJsonObject = (text: string, whose: string): Readonly<Record<string, unknown>> => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = undefined; // its message would show some of the text
  }
  if (typeof parsed !== 'object' || parsed === null) throw new TokenError(`${whose} did not answer a JSON object`);
  return parsed as Readonly<Record<string, unknown>>; // an object, whose fields are checked where they are read
};

/** A field that must be text. @throws {TokenError} that names it. */
export const requireText = (fields: Readonly<Record<string, unknown>>, name: string, whose: string): string => {
  const value = fields[name];
  if (typeof value !== 'string' || value === '') throw new TokenError(`${whose} answered no "${name}"`);
  return value;
};
