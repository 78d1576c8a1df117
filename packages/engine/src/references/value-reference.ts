import { measureValue } from '@decision/expressions';
import { frozenCopy, isObject, isTooDeep } from '../values/json-value';

/** A value of the workspace. Rules refer to it by its id. */
export interface StoredValue {
  readonly id: string;
  /** Only for messages: a value may be renamed. */
  readonly name: string;
  /** `function` for a {@link FunctionText}; the type of the value otherwise. */
  readonly type: string;
  readonly value: unknown;
  /**
   * Groups that may see the value, and those of each value that it contains as a member: a reader who is restricted to groups sees it if he
   * shares a group with each of these lists. Without the lists, only unrestricted readers see it.
   */
  readonly audiences?: readonly (readonly string[])[] | undefined;
}

/** The value of a function: its formula sees its parameters and nothing else. */
export interface FunctionText {
  readonly parameters: readonly string[];
  readonly formula: string;
}

/**
 * Source of the values of rules. It includes archived values: published rules continue to use them. `revision` changes whenever a value may have
 * changed; rules then look up their values again.
 */
export interface ValueSource {
  readonly revision: number | string;
  readonly get: (id: string) => StoredValue | undefined;
}

/** Lookups of the values that the writer may use, for binding a table. */
export interface ValueLookUp {
  /** Finds values for new references. */
  readonly byName: (name: string) => StoredValue | undefined;
  /** Finds values to which the table is already bound. */
  readonly byId: (id: string) => StoredValue | undefined;
}

/** A reference as stored: by id. The name is that at the time of writing. */
export interface ValueReference {
  readonly $rb: 'globalValue';
  readonly id: string;
  readonly name?: string;
}

/** A reference as stored, or undefined. */
export const asReference = (value: unknown): ValueReference | undefined =>
  isObject(value) && value['$rb'] === 'globalValue' && typeof value['id'] === 'string'
    ? (value as unknown as ValueReference) // its two members were just checked
    : undefined;

/** The name of a reference as written, or undefined. */
export const referencedName = (value: unknown): string | undefined =>
  isObject(value) && typeof value['$ref'] === 'string' && Object.keys(value).length === 1 ? value['$ref'] : undefined;

/** Whether a value is or contains a reference of either form. */
export const holdsReference = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) {
    // Without a call for each element of long lists of texts and numbers, and without iterators, which are slow for frozen arrays.
    for (let at = 0; at < value.length; at += 1) {
      const element: unknown = value[at];
      if (typeof element === 'object' && element !== null && holdsReference(element)) return true;
    }
    return false;
  }
  if (asReference(value) !== undefined || referencedName(value) !== undefined) return true;
  return Object.values(value).some(holdsReference);
};

/** Replaces each reference in a value by the result of `replace`; returns a value without references unchanged. Visits each part once. */
export const mapReferences = (value: unknown, replace: (reference: object) => unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (asReference(value) !== undefined || referencedName(value) !== undefined) return replace(value);
  if (Array.isArray(value)) {
    const elements = value.map((element) => mapReferences(element, replace));
    return elements.some((element, index) => element !== value[index]) ? elements : value;
  }
  const members = Object.entries(value).map(([key, member]) => [key, member, mapReferences(member, replace)] as const);
  return members.some(([, before, after]) => before !== after)
    ? Object.fromEntries(members.map(([key, , after]) => [key, after]))
    : value;
};

/** Why the references at a location have no value. */
interface Unresolved {
  readonly code: 'unbound_value' | 'unknown_value' | 'too_deep' | 'too_large';
  /** The end of a sentence about the location of the reference. */
  readonly fault: string;
}

type Resolution =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly unresolved: Unresolved };

/**
 * Maximum number of elements, members and UTF-16 units in all resolved references of one table. A location that references one large value many
 * times is small as written; locations with the same text count once.
 */
const MAX_RESOLVED_SIZE = 10_000_000;

/** Replaces references by their values, for all locations of one table. Results that contained a reference are frozen. */
export class ValueResolver {
  private readonly known = new Map<string, Resolution>();
  private left = MAX_RESOLVED_SIZE;

  constructor(private readonly source: ValueSource | undefined) {}

  /** The value must not nest deeper than tables may. A value without references is returned unchanged. */
  resolve(value: unknown): Resolution {
    if (!holdsReference(value)) return { ok: true, value };
    const text = JSON.stringify(value);
    const earlier = this.known.get(text);
    if (earlier !== undefined) return earlier;
    const resolution = this.resolveAnew(value);
    this.known.set(text, resolution);
    return resolution;
  }

  private resolveAnew(value: unknown): Resolution {
    let unresolved: Unresolved | undefined;
    const resolved = mapReferences(value, (reference) => {
      const found = lookUp(reference, this.source);
      if (!found.ok) unresolved ??= found.unresolved;
      return found.ok ? found.value : null;
    });
    if (unresolved !== undefined) return { ok: false, unresolved };
    const size = measureValue(resolved, this.left);
    if (size > this.left) return { ok: false, unresolved: TOO_LARGE };
    if (isTooDeep(resolved)) return { ok: false, unresolved: TOO_DEEP };
    this.left -= size;
    return { ok: true, value: frozenCopy(resolved) };
  }
}

const TOO_LARGE: Unresolved = {
  code: 'too_large',
  fault: `refers to values that are, with all others of the rule, larger than ${MAX_RESOLVED_SIZE} elements and characters`,
};

const TOO_DEEP: Unresolved = { code: 'too_deep', fault: 'refers to a value that nests too deep' };

const lookUp = (value: object, source: ValueSource | undefined): Resolution => {
  const reference = asReference(value);
  if (reference === undefined) {
    const fault = `refers to the value "${referencedName(value) ?? ''}" by its name only; it must be bound to the value's id first`;
    return { ok: false, unresolved: { code: 'unbound_value', fault } };
  }
  const name = reference.name ?? reference.id;
  const stored = source?.get(reference.id);
  if (stored === undefined) {
    return {
      ok: false,
      unresolved: { code: 'unknown_value', fault: `refers to the value "${name}", which does not exist` },
    };
  }
  if (stored.type === 'function') {
    const fault = `refers to the value "${stored.name}", which is a function; call it in a formula`;
    return { ok: false, unresolved: { code: 'unknown_value', fault } };
  }
  return { ok: true, value: stored.value };
};
