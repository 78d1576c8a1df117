import { FieldList } from './field-list';
import {
  ContentFault,
  type ContentField,
  contentLimits,
  type FieldScope,
  isJsonObject,
  type JsonObject,
  memberOf,
  type ParsedFieldType,
  pointerTo,
} from './parsed-content';
import { intersectionOf, type Members, membersOf, namesIn, unionOf } from './members';

const BY_NAME: Readonly<Record<string, ParsedFieldType | undefined>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  array: 'list',
  object: 'object',
};

/** The type that a schema itself declares, by its `type` and `format`, its enum, or its keywords for members; undefined if none does. */
const typeOfSchema = (schema: JsonObject): ParsedFieldType | undefined => {
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

/** The first name other than "null" counts. */
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

/**
 * Target of a `$ref` within its document. Only JSON pointers are followed: nothing is ever fetched. Throws a {@link ContentFault} at `path` for
 * anything else.
 */
const resolveReference = (document: unknown, reference: string, path: string): unknown => {
  if (!reference.startsWith('#')) {
    throw new ContentFault(path, `"${shown(reference)}" refers to another document; references are never fetched.`);
  }
  const pointer = decodePointer(reference.slice(1));
  if (pointer === undefined || (pointer !== '' && !pointer.startsWith('/'))) {
    throw new ContentFault(path, `"${shown(reference)}" is no JSON pointer; write it like "#/$defs/name".`);
  }
  let target: unknown = document;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    target = childOf(target, key);
    if (target === undefined) throw new ContentFault(path, `"${shown(reference)}" names nothing in this document.`);
  }
  return target;
};

const childOf = (parent: unknown, key: string): unknown => {
  if (Array.isArray(parent)) return /^(?:0|[1-9]\d{0,9})$/.test(key) ? (parent[Number(key)] as unknown) : undefined; // elements are unknown
  return isJsonObject(parent) && Object.hasOwn(parent, key) ? parent[key] : undefined;
};

const decodePointer = (fragment: string): string | undefined => {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
};

const shown = (reference: string): string => (reference.length > 200 ? `${reference.slice(0, 200)}...` : reference);

/** The fields of a JSON Schema. Throws a {@link ContentFault} for a schema that cannot be read. */
export const readSchema = (document: JsonObject): readonly ContentField[] => {
  const reader = new SchemaReader(document);
  reader.read(document, { parts: [], pointer: '', scope: 'root' });
  return reader.fields.toArray();
};

/** Position to which a schema applies. */
interface Place {
  readonly parts: readonly string[];
  /** JSON pointer to the schema. */
  readonly pointer: string;
  readonly scope: FieldScope;
}

/** Facts of a schema about its field. */
interface Finding {
  readonly type: ParsedFieldType | undefined;
  readonly members: Members | undefined;
  readonly description: string | undefined;
  readonly title: string | undefined;
}

const NOTHING: Finding = { type: undefined, members: undefined, description: undefined, title: undefined };

/** Keywords whose schemas are alternatives for the same field. */
const ALTERNATIVES = ['oneOf', 'anyOf'] as const;
const CONDITIONS = ['then', 'else'] as const;

/**
 * Walks a schema from its root. A schema that is already being walked is not entered again, so recursive schemas end where they begin to repeat;
 * references that multiply each other hit the limit on steps.
 */
class SchemaReader {
  readonly fields = new FieldList();
  private readonly entered = new Set<JsonObject>();
  private steps = 0;

  constructor(private readonly document: JsonObject) {}

  read(schema: unknown, place: Place): Finding {
    if (!isJsonObject(schema)) return NOTHING;
    this.count(contentLimits.stepsOfSchema, place);
    if (this.entered.has(schema)) return NOTHING;
    if (this.entered.size >= contentLimits.schemaDepth) {
      throw new ContentFault(place.pointer, `Schemas nest deeper than ${contentLimits.schemaDepth} levels here.`);
    }
    this.entered.add(schema);
    try {
      const finding = this.combine(schema, place);
      this.readProperties(schema, place);
      return finding;
    } finally {
      this.entered.delete(schema);
    }
  }

  private count(steps: number, { pointer }: Place): void {
    this.steps += steps;
    if (this.steps <= contentLimits.steps) return;
    throw new ContentFault(
      pointer,
      `The schema becomes too large when its references are followed: reading it takes more than ${contentLimits.steps} steps.`,
    );
  }

  /** Combined findings about a field from a schema and those that it includes. Schemas that must all hold narrow, alternatives widen. */
  private combine(schema: JsonObject, place: Place): Finding {
    const own = this.own(schema, place);
    const every = [own, ...this.reference(schema, place), ...this.list(schema, 'allOf', place)];
    const some = ALTERNATIVES.map((keyword) => this.list(schema, keyword, place));
    const weak = [...CONDITIONS.map((keyword) => this.keyword(schema, keyword, place)), ...this.items(schema, place)];
    const unions = some.map((findings) => this.unite(findings, place));
    const narrowed = this.narrow([...every.map(({ members }) => members), ...unions], place);
    const all = [...every, ...some.flat(), ...weak];
    return {
      type: own.type ?? first([...every, ...some.flat()], 'type') ?? first(weak.slice(0, CONDITIONS.length), 'type'),
      members: narrowed ?? this.unite(weak, place),
      description: first(all.slice(0, every.length), 'description'),
      title: first(all.slice(0, every.length), 'title'),
    };
  }

  private unite(findings: readonly Finding[], place: Place): Members | undefined {
    const lists = findings.map(({ members }) => members);
    for (const members of lists) this.count(members?.size ?? 0, place);
    return unionOf(lists);
  }

  private narrow(lists: readonly (Members | undefined)[], place: Place): Members | undefined {
    for (const members of lists) this.count(members?.size ?? 0, place);
    return lists.reduce(intersectionOf, undefined);
  }

  private own(schema: JsonObject, place: Place): Finding {
    const listed = memberOf(schema, 'enum');
    if (Array.isArray(listed)) this.count(listed.length, place);
    const names = namesIn(schema);
    return {
      type: typeOfSchema(schema),
      members: intersectionOf(
        Array.isArray(listed) ? membersOf(listed) : undefined,
        Object.hasOwn(schema, 'const') ? membersOf([schema['const']], names) : undefined,
      ),
      description: names.description,
      title: names.title,
    };
  }

  private reference(schema: JsonObject, place: Place): readonly Finding[] {
    for (const keyword of ['$dynamicRef', '$recursiveRef']) {
      if (!Object.hasOwn(schema, keyword)) continue;
      throw new ContentFault(pointerTo(place.pointer, keyword), `"${keyword}" is not followed; use "$ref".`);
    }
    if (!Object.hasOwn(schema, '$ref')) return [];
    const path = pointerTo(place.pointer, '$ref');
    const { $ref: reference } = schema;
    if (typeof reference !== 'string') throw new ContentFault(path, 'A "$ref" must be text.');
    const target = resolveReference(this.document, reference, path);
    return [this.read(target, place)];
  }

  private list(schema: JsonObject, keyword: string, place: Place): readonly Finding[] {
    const branches = memberOf(schema, keyword);
    if (!Array.isArray(branches)) return [];
    const pointer = pointerTo(place.pointer, keyword);
    return branches.map((branch, index) => this.read(branch, { ...place, pointer: pointerTo(pointer, index) }));
  }

  private keyword(schema: JsonObject, keyword: string, place: Place): Finding {
    const inner = memberOf(schema, keyword);
    if (Array.isArray(inner)) return NOTHING;
    return this.read(inner, { ...place, pointer: pointerTo(place.pointer, keyword) });
  }

  /** Elements of a list are fields with the path of the list. */
  private items(schema: JsonObject, place: Place): readonly Finding[] {
    const inItems = { ...place, scope: 'item' } as const;
    return [
      this.keyword(schema, 'items', inItems),
      ...this.list(schema, 'items', inItems),
      ...this.list(schema, 'prefixItems', inItems),
    ];
  }

  private readProperties(schema: JsonObject, place: Place): void {
    const properties = memberOf(schema, 'properties');
    if (!isJsonObject(properties)) return;
    const required = memberOf(schema, 'required');
    if (Array.isArray(required)) this.count(required.length, place);
    const needed = new Set<unknown>(Array.isArray(required) ? required : []);
    for (const [key, property] of Object.entries(properties)) {
      this.readProperty(property, innerPlace(place, key), needed.has(key));
    }
  }

  private readProperty(property: unknown, place: Place, required: boolean): void {
    // Comes first, so that fields precede those within them.
    const entry = this.fields.open(place.parts, place.pointer, place.scope);
    const scope = place.scope === 'item' ? 'item' : 'nested';
    const { type, members, description, title } = this.read(property, { ...place, scope });
    if (members !== undefined) this.count(members.size, place);
    entry.add({ type, members, description, title, required, valuesName: valuesNameIn(property, place) });
  }
}

/** Keyword for the name of a property's values instead of its path, so that two objects can have a field of the same name. */
const VALUES_NAME = 'x-values-name';

const valuesNameIn = (property: unknown, { pointer }: Place): string | undefined => {
  const name = isJsonObject(property) ? memberOf(property, VALUES_NAME) : undefined;
  if (name === undefined || (typeof name === 'string' && name.trim() !== '')) return name;
  throw new ContentFault(pointerTo(pointer, VALUES_NAME), `"${VALUES_NAME}" must be the name of the values, as text.`);
};

/** A property of an object within a list belongs to the list's elements. */
const innerPlace = ({ parts, pointer, scope }: Place, key: string): Place => ({
  parts: [...parts, key],
  pointer: pointerTo(pointerTo(pointer, 'properties'), key),
  scope,
});

const first = <K extends keyof Finding>(findings: readonly Finding[], key: K): Finding[K] | undefined =>
  findings.find((finding) => finding[key] !== undefined)?.[key];
