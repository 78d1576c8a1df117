import { isJsonObject } from './json-object';
import { type EnumMember } from './parsed-content';

/**
 * Which members an enum leaves, by their JSON text, in order. Null, lists and objects are left out: values cannot hold them. Undefined
 * stands for a schema that lists none.
 */
export type Members = ReadonlyMap<string, EnumMember>;

export const membersOf = (list: readonly unknown[], named: Omit<EnumMember, 'value'> = {}): Members => {
  const members = new Map<string, EnumMember>();
  for (const value of list) {
    if (isMember(value) && !members.has(JSON.stringify(value))) members.set(JSON.stringify(value), { value, ...named });
  }
  return members;
};

const isMember = (value: unknown): value is EnumMember['value'] =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

/** Members of either; the first to name one describes it. */
export const unionOf = (a: Members | undefined, b: Members | undefined): Members | undefined => {
  if (a === undefined || b === undefined) return a ?? b;
  const union = new Map(a);
  for (const [text, member] of b) if (!union.has(text)) union.set(text, member);
  return union;
};

/** Members of both, as far as both list any. */
export const intersectionOf = (a: Members | undefined, b: Members | undefined): Members | undefined =>
  a === undefined || b === undefined ? (a ?? b) : new Map([...a].filter(([text]) => b.has(text)));

/** How a schema names the one member that its `const` is. */
export const namesIn = (schema: unknown): Omit<EnumMember, 'value'> => {
  if (!isJsonObject(schema)) return {};
  const { title, description } = schema;
  return {
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof description === 'string' ? { description } : {}),
  };
};
