import { isJsonObject, type JsonObject, memberOf } from './parsed-content';

const TYPE_NAMES = new Set<unknown>(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);
const COMBINATIONS = ['oneOf', 'anyOf', 'allOf'] as const;
const DEFINITIONS = ['$defs', 'definitions'] as const;

/**
 * Whether a JSON object is meant as a JSON Schema rather than as data. It is if one of these holds: `$schema` is text; the type "object" appears
 * with `properties` that are only objects, true and false; without that type every member of `properties` looks like a schema, and there is at
 * least one; the type "array" appears with `items` that look like a schema; a `$ref` appears with definitions; `oneOf`, `anyOf` or `allOf` is a
 * list whose entries look like schemas.
 */
export const isJsonSchema = (content: JsonObject): boolean =>
  typeof memberOf(content, '$schema') === 'string' ||
  hasProperties(content) ||
  (memberOf(content, 'type') === 'array' && looksLikeSchema(memberOf(content, 'items'))) ||
  hasReference(content) ||
  COMBINATIONS.some((keyword) => isListOfSchemas(memberOf(content, keyword)));

const hasProperties = (content: JsonObject): boolean => {
  const properties = memberOf(content, 'properties');
  if (!isJsonObject(properties)) return false;
  const members = Object.values(properties);
  if (memberOf(content, 'type') === 'object') return members.every((member) => isJsonObject(member) || isTruth(member));
  return members.length > 0 && members.every(looksLikeSchema);
};

const isTruth = (value: unknown): boolean => typeof value === 'boolean';

const hasReference = (content: JsonObject): boolean =>
  typeof memberOf(content, '$ref') === 'string' && DEFINITIONS.some((key) => isJsonObject(memberOf(content, key)));

const isListOfSchemas = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(looksLikeSchema);

/** `true`, `{}`, or an object with a keyword that constrains values. */
const looksLikeSchema = (value: unknown): boolean => {
  if (isTruth(value)) return true;
  if (!isJsonObject(value)) return false;
  return (
    Object.keys(value).length === 0 ||
    isTypeName(memberOf(value, 'type')) ||
    Array.isArray(memberOf(value, 'enum')) ||
    Object.hasOwn(value, 'const') ||
    typeof memberOf(value, '$ref') === 'string' ||
    isJsonObject(memberOf(value, 'properties')) ||
    isJsonObject(memberOf(value, 'items')) ||
    COMBINATIONS.some((keyword) => Array.isArray(memberOf(value, keyword)))
  );
};

const isTypeName = (type: unknown): boolean =>
  Array.isArray(type) ? type.length > 0 && type.every((name) => TYPE_NAMES.has(name)) : TYPE_NAMES.has(type);
