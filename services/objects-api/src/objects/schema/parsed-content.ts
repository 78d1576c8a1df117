/** A JSON object. Its keys come from a client: test with `Object.hasOwn`, never with `in`. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The member of a key, undefined if the object has no own one. */
export const memberOf = (object: JsonObject, key: string): unknown =>
  Object.hasOwn(object, key) ? object[key] : undefined;

/** Whether lists and objects nest deeper than the given number of levels. Without recursion: the value may nest without bound. */
export const nestsDeeper = (value: unknown, levels: number): boolean => {
  let level: readonly unknown[] = [value];
  for (let depth = 0; depth <= levels; depth += 1) {
    level = level.flatMap((part) => (typeof part === 'object' && part !== null ? membersIn(part) : []));
    if (level.every((part) => typeof part !== 'object' || part === null)) return false;
  }
  return true;
};

const membersIn = (part: object): readonly unknown[] => Object.values(part);

/** Appends one step to a JSON pointer. */
export const pointerTo = (pointer: string, key: string | number): string =>
  `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** Kinds of an object's content. */
type ContentType = 'json_schema' | 'json_object';

/** Types that a field of an object can pass on to a field of a rule. */
export type ParsedFieldType = 'string' | 'number' | 'boolean' | 'date' | 'list' | 'object';

/** Position of a field: in the object itself, in an object within it, or in the elements of a list. */
export type FieldScope = 'root' | 'nested' | 'item';

/** A member of an enum that can be a value. */
export interface EnumMember {
  readonly value: string | number | boolean;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
}

/** One field of an object's content. */
export interface ContentField {
  /** Keys from the object to the field, joined with dots; elements of lists add no part. */
  readonly key: string;
  readonly name: string;
  readonly description: string | null;
  readonly type: ParsedFieldType;
  readonly scope: FieldScope;
  readonly required: boolean;
  /** JSON pointer into the content, where the field was first found. */
  readonly schemaPath: string;
  /** Name of an object within the content; absent for all other fields. */
  readonly derivedObjectName?: string | undefined;
  /** In order; absent if the schema lists none. */
  readonly members?: readonly EnumMember[] | undefined;
  /** Name of the values of its members; absent if they have the field's name. */
  readonly valuesName?: string | undefined;
}

/** Reason why content is invalid for an object. */
export interface ContentProblem {
  /** JSON pointer into the content; empty for the whole. */
  readonly path: string;
  /** A sentence. */
  readonly message: string;
}

interface ParsedContent {
  readonly contentType: ContentType;
  /** In the order of the content. */
  readonly fields: readonly ContentField[];
}

export type ContentReading =
  | { readonly ok: true; readonly content: ParsedContent }
  | { readonly ok: false; readonly problems: readonly ContentProblem[] };

/** Limits of reading. Content beyond them is refused, never truncated. */
export const contentLimits = {
  /** Nesting of brackets in the text. */
  depth: 200,
  /**
   * Work on one content, in steps. In data each member and element counts one. In a schema each name in `required` counts one, each member one
   * per visit, each schema ten, a referenced schema once per reference. Enough for an enum of 100,000 members or a `oneOf` of 40,000, and read
   * within half a second.
   */
  steps: 500_000,
  /** Cost of reading a schema, in steps. */
  stepsOfSchema: 10,
  /** Nesting of schemas, with references followed. */
  schemaDepth: 200,
  fields: 10_000,
  /** Keys from the object to a field. */
  pathParts: 31,
} as const;

/** Aborts the reading of content. */
export class ContentFault extends Error {
  override readonly name = 'ContentFault';

  constructor(
    readonly path: string,
    message: string,
  ) {
    super(message);
  }
}
