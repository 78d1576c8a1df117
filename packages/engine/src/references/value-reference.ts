import { measureValue } from '@decision/expressions';
import { frozenCopy, isObject, isTooDeep } from '../values/json-value';

/** A value of the workspace, which rules refer to by its id. */
export interface StoredValue {
  readonly id: string;
  /** Only for messages: a value may be renamed. */
  readonly name: string;
  /** `function` for a {@link FunctionText}; the type of the value otherwise. */
  readonly type: string;
  readonly value: unknown;
  /**
   * Groups that may see the value, and those of each value that it holds as a member: who is restricted to groups sees it where he shares
   * one with each of these lists. Without it, only who is not restricted does.
   */
  readonly audiences?: readonly (readonly string[])[] | undefined;
}

/** The value of a function: its formula sees its parameters and nothing else. */
export interface FunctionText {
  readonly parameters: readonly string[];
  readonly formula: string;
}

/**
 * Source of the values of rules. It has archived values too: published rules go on using them. `revision` changes whenever a value may have changed;
 * rules look values up again when they see that it has.
 */
export interface ValueSource {
  readonly revision: number | string;
  readonly get: (id: string) => StoredValue | undefined;
}

/** How values are found when a table is bound to them, among those that the writer may use. */
export interface ValueLookUp {
  /** Finds values that may be referred to anew. */
  readonly byName: (name: string) => StoredValue | undefined;
  /** Finds values to which the table is bound already. */
  readonly byId: (id: string) => StoredValue | undefined;
}

/** A reference as it is stored: by id. The name is that at the time of writing. */
export interface ValueReference {
  readonly $rb: 'globalValue';
  readonly id: string;
  readonly name?: string;
}

/** A reference as it is stored, or undefined. */
export const asReference = (value: unknown): ValueReference | undefined =>
  isObject(value) && value['$rb'] === 'globalValue' && typeof value['id'] === 'string'
    ? (value as unknown as ValueReference) // its two members have just been looked at
    : undefined;

/** The name of a reference as it is written, or undefined. */
export const referencedName = (value: unknown): string | undefined =>
  isObject(value) && typeof value['$ref'] === 'string' && Object.keys(value).length === 1 ? value['$ref'] : undefined;

/** Whether a value is a reference of either form, or holds one. */
export const holdsReference = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(holdsReference);
  if (asReference(value) !== undefined || referencedName(value) !== undefined) return true;
  return Object.values(value).some(holdsReference);
};

/** Replaces each reference in a value by what `replace` makes of it; what holds none is answered as it is. Looks at each part once. */
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

/** Why the references of a place have no value. */
interface Unresolved {
  readonly code: 'unbound_value' | 'unknown_value' | 'too_deep' | 'too_large';
  /** The end of a sentence about the place of the reference. */
  readonly fault: string;
}

type Resolution =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly unresolved: Unresolved };

/**
 * Elements, members and UTF-16 units of all that the references of one table may stand for. A place that names one large value many times
 * is small as it is written; places that are written alike count once.
 */
const MAX_RESOLVED_SIZE = 10_000_000;

/** Puts values in the place of their references, for all places of one table. What it answers is frozen where it holds a reference. */
export class ValueResolver {
  private readonly known = new Map<string, Resolution>();
  private left = MAX_RESOLVED_SIZE;

  constructor(private readonly source: ValueSource | undefined) {}

  /** The value must not nest deeper than tables may. What holds no reference is answered as it is. */
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
