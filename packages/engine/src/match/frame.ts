import { type FieldType } from '@decision/contracts';
import { instantOf } from '@decision/values';
import { isObject } from '../values/json-value';

/** A field key, prepared for reading and writing. A key with dots refers to nested objects; an own key with the full name takes precedence. */
export interface FieldPath {
  readonly key: string;
  readonly segments: readonly string[];
}

/** A path with precomputed properties of its key. */
export interface FieldReader extends FieldPath {
  /** Whether an object with the usual prototype inherits nothing under the key. */
  readonly isSafe: boolean;
  /** Whether the key has dots. */
  readonly isNested: boolean;
}

export const fieldPath = (key: string): FieldPath => ({ key, segments: key.split('.') });

/** Written out, so that all readers have one shape: searches access them for each field of each input. */
export const fieldReader = (key: string): FieldReader => ({
  key,
  segments: key.split('.'),
  isSafe: !(key in Object.prototype),
  isNested: key.includes('.'),
});

/** The value at a path; undefined if there is none. Only own properties are visible, so `constructor` is as absent as any other. */
export const readOwn = (input: Readonly<Record<string, unknown>>, { key, segments }: FieldPath): unknown => {
  if (Object.hasOwn(input, key)) return input[key];
  if (segments.length === 1) return undefined;
  let value: unknown = input;
  for (const segment of segments) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return undefined;
    value = (value as Record<string, unknown>)[segment]; // an object that has this own property
  }
  return value;
};

/** Writes a value at a path of an output, creating nested objects as needed. Keys such as `__proto__` become plain own keys. */
export const writeField = (output: Record<string, unknown>, { segments }: FieldPath, value: unknown): void => {
  let target = output;
  for (const segment of segments.slice(0, -1)) target = childOf(target, segment);
  defineOwn(target, segments.at(-1) ?? '', value);
};

const childOf = (parent: Record<string, unknown>, segment: string): Record<string, unknown> => {
  if (!Object.hasOwn(parent, segment)) defineOwn(parent, segment, {});
  return parent[segment] as Record<string, unknown>; // created by this function: keys that collide with values were rejected
};

/** Sets an own member, even if its name is special on prototypes. */
export const defineOwn = (target: Record<string, unknown>, key: string, value: unknown): void => {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
};

/** States of a field of the input. */
export const ABSENT = 0;
export const PRESENT = 1;
/** A value of another type: it is present, but no condition matches it. */
export const WRONG = 2;
/** Not read yet. */
const UNREAD = 3;

/** How a frame stores values of a type. Booleans are points too: 0 and 1. */
const KINDS: Readonly<Record<FieldType, number>> = {
  string: 0,
  number: 1,
  date: 2,
  boolean: 3,
  list: 4,
  object: 5,
  function: 5,
};

const STRING = 0;
const NUMBER = 1;
const DATE = 2;
const BOOLEAN = 3;
const LIST = 4;

/** Whether values of a type are points on a line: numbers, dates, booleans. */
export const isPointType = (type: FieldType): boolean => KINDS[type] >= NUMBER && KINDS[type] <= BOOLEAN;

/** A field of the frame that is derived from another one: a form of an input, or the result of a test on it. */
export interface DerivedField {
  /** Position of the field from which it is derived; that field precedes it. */
  readonly base: number;
  readonly isPoint: boolean;
  /** NaN, or undefined if it is not a point: the value has no such form, and no condition on it matches. */
  readonly derive: (value: unknown, now: number) => unknown;
}

/** The fields of one evaluation, by key. */
export type Input = Readonly<Record<string, unknown>>;
const NO_INPUT: Input = Object.freeze({});

/**
 * One input, laid out for matching: fields by position, each read on first access and converted to the form of its type. The inputs are followed
 * by the fields derived from them, which are computed once, on first access. A rule has one frame, which takes one input after the other; code
 * that runs while the frame holds an input never calls back into the rule.
 */
export class Frame {
  /** Epoch ms. */
  now = 0;
  private input = NO_INPUT;
  /** Whether the input has the usual prototype, or none. */
  private isPlain = true;
  private readonly size: number;
  private readonly tags: Uint8Array;
  /** NaN if there is none. */
  private readonly points: Float64Array;
  private readonly values: unknown[];
  private readonly kinds: Uint8Array;

  constructor(
    private readonly readers: readonly FieldReader[],
    types: readonly FieldType[],
    private readonly derived: readonly DerivedField[] = [],
  ) {
    this.size = readers.length + derived.length;
    this.tags = new Uint8Array(this.size);
    this.points = new Float64Array(this.size).fill(Number.NaN);
    this.values = new Array<unknown>(this.size).fill(undefined);
    this.kinds = Uint8Array.from(types, (type) => KINDS[type]);
  }

  /** Takes an input. */
  open(input: Input, now: number): void {
    const prototype: unknown = Object.getPrototypeOf(input);
    this.input = input;
    this.isPlain = prototype === Object.prototype || prototype === null;
    this.now = now;
    for (let field = 0; field < this.size; field += 1) this.tags[field] = UNREAD;
  }

  /** Releases the input, since a rule lives longer. */
  close(): void {
    this.input = NO_INPUT;
    for (let field = 0; field < this.size; field += 1) this.values[field] = undefined;
  }

  /** {@link ABSENT}, {@link PRESENT} or {@link WRONG}. */
  tag(field: number): number {
    const tag = this.tags[field];
    return tag === UNREAD || tag === undefined ? this.read(field) : tag;
  }

  /** A number, the epoch ms of a date, 0 or 1 for a boolean, or a derived point; NaN if there is none. */
  point(field: number): number {
    if (this.tags[field] === UNREAD) this.read(field);
    return this.points[field] ?? 0;
  }

  /** A text, list, object, or a derived form that is not a point; undefined if there is none. */
  value(field: number): unknown {
    if (this.tags[field] === UNREAD) this.read(field);
    return this.values[field];
  }

  private read(field: number): number {
    const reader = this.readers[field];
    if (reader === undefined) return this.derive(field);
    const { input } = this;
    let value = this.isPlain && reader.isSafe ? input[reader.key] : readOwn(input, reader);
    if (value === undefined && reader.isNested) value = readOwn(input, reader);
    const tag = this.put(field, value);
    this.tags[field] = tag;
    return tag;
  }

  private derive(field: number): number {
    const made = this.derived[field - this.readers.length];
    if (made === undefined) return ABSENT;
    const { base, isPoint, derive } = made;
    let tag = this.tag(base);
    let point = Number.NaN;
    if (tag === PRESENT) {
      const value = this.values[base];
      const form = derive(value === undefined ? this.points[base] : value, this.now);
      if (isPoint) point = Number(form);
      else this.values[field] = form;
      if (isPoint ? point !== point : form === undefined) tag = WRONG;
    }
    this.points[field] = point;
    this.tags[field] = tag;
    return tag;
  }

  private put(field: number, value: unknown): number {
    const kind = this.kinds[field] ?? STRING;
    if (kind >= NUMBER && kind <= BOOLEAN) {
      const point = pointOf(kind, value);
      this.points[field] = point;
      if (point === point) return PRESENT;
    } else if (kind === STRING ? typeof value === 'string' : kind === LIST ? Array.isArray(value) : isObject(value)) {
      this.values[field] = value;
      return PRESENT;
    }
    return value === undefined || value === null ? ABSENT : WRONG;
  }
}

/** NaN if the value is of another type. */
const pointOf = (kind: number, value: unknown): number => {
  if (kind === NUMBER) return typeof value === 'number' ? value : Number.NaN;
  if (kind === DATE) return instantOf(value);
  return typeof value === 'boolean' ? Number(value) : Number.NaN;
};

/** Whether conditions of the type can match a value. Null and missing values have no type. */
export const isOfType = (value: unknown, type: FieldType): boolean => {
  const kind = KINDS[type];
  if (kind === STRING) return typeof value === 'string';
  if (kind <= BOOLEAN) return !Number.isNaN(pointOf(kind, value));
  return kind === LIST ? Array.isArray(value) : isObject(value);
};
