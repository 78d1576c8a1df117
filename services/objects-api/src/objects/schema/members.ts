import { type EnumMember, isJsonObject } from './parsed-content';

/**
 * Members that an enum allows, by their JSON text, in order. Null, lists and objects are left out: values cannot hold them. Undefined stands for
 * a schema that lists none.
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

/**
 * Union of members, undefined if no list is given; the first list that names a member describes it. Takes time linear in the members given, not
 * in their pairs.
 */
export const unionOf = (lists: readonly (Members | undefined)[]): Members | undefined => {
  const given = lists.filter((members) => members !== undefined);
  if (given.length <= 1) return given[0];
  const union = new Map<string, EnumMember>();
  for (const members of given) addMembers(union, members);
  return union;
};

/** Adds the members that are not known yet. */
export const addMembers = (union: Map<string, EnumMember>, members: Members): void => {
  for (const [text, member] of members) if (!union.has(text)) union.set(text, member);
};

/** Members of both lists; if only one is given, its members. */
export const intersectionOf = (a: Members | undefined, b: Members | undefined): Members | undefined =>
  a === undefined || b === undefined ? (a ?? b) : new Map([...a].filter(([text]) => b.has(text)));

/** Title and description of the only member of a schema with `const`. */
export const namesIn = (schema: unknown): Omit<EnumMember, 'value'> => {
  if (!isJsonObject(schema)) return {};
  const { title, description } = schema;
  return {
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof description === 'string' ? { description } : {}),
  };
};
