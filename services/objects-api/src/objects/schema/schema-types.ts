import { isJsonObject, type JsonObject, memberOf } from './json-object';
import { type ParsedFieldType } from './parsed-content';

const BY_NAME: Readonly<Record<string, ParsedFieldType | undefined>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  array: 'list',
  object: 'object',
};

/** The type that a schema itself tells, by its `type` and `format`, its enum, or what it says of members; undefined where none does. */
export const typeOfSchema = (schema: JsonObject): ParsedFieldType | undefined => {
  const named = nameOf(memberOf(schema, 'type'));
  if (named === 'string' && isDate(memberOf(schema, 'format'))) return 'date';
  if (named !== undefined) return named;
  if (Object.hasOwn(schema, 'const')) return typeOfData(schema['const']);
  const listed = memberOf(schema, 'enum');
  if (Array.isArray(listed)) return typeOfMembers(listed);
  if (isJsonObject(memberOf(schema, 'properties'))) return 'object';
  return memberOf(schema, 'items') === undefined ? undefined : 'list';
};

/** The type of a piece of data; undefined for null. */
export const typeOfData = (value: unknown): ParsedFieldType | undefined => {
  if (Array.isArray(value)) return 'list';
  return value === null ? undefined : Object.hasOwn(BY_NAME, typeof value) ? BY_NAME[typeof value] : undefined;
};

/** The first that is not "null" counts. */
const nameOf = (type: unknown): ParsedFieldType | undefined => {
  const names: readonly unknown[] = Array.isArray(type) ? type : [type];
  const first = names.find((name) => typeof name === 'string' && name !== 'null');
  return typeof first === 'string' && Object.hasOwn(BY_NAME, first) ? BY_NAME[first] : undefined;
};

const isDate = (format: unknown): boolean => format === 'date' || format === 'date-time';

/** Members of several types are compared as texts. */
const typeOfMembers = (listed: readonly unknown[]): ParsedFieldType | undefined => {
  const types = new Set(listed.map(typeOfData).filter((type) => type !== undefined));
  return types.size > 1 ? 'string' : [...types][0];
};
