import { isObject } from '../values/value-type';
import { type ValueSource } from './value-source';

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
  if (asReference(value) !== undefined || referencedName(value) !== undefined) return true;
  return Object.values(value).some(holdsReference);
};

/** Replaces each reference in a value by what `replace` makes of it; what holds none is answered as it is. */
export const mapReferences = (value: unknown, replace: (reference: object) => unknown): unknown => {
  if (!holdsReference(value) || typeof value !== 'object' || value === null) return value;
  if (asReference(value) !== undefined || referencedName(value) !== undefined) return replace(value);
  if (Array.isArray(value)) return value.map((element) => mapReferences(element, replace));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mapReferences(member, replace)]));
};

/** Why a reference has no value. */
export interface Unresolved {
  readonly code: 'unbound_value' | 'unknown_value';
  /** The end of a sentence about the place of the reference. */
  readonly fault: string;
}

export type Resolution =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly unresolved: Unresolved };

/** Puts values in the place of their references. */
export const resolveReferences = (value: unknown, source: ValueSource | undefined): Resolution => {
  let unresolved: Unresolved | undefined;
  const resolved = mapReferences(value, (reference) => {
    const found = lookUp(reference, source);
    if (!found.ok) unresolved ??= found.unresolved;
    return found.ok ? found.value : null;
  });
  return unresolved === undefined ? { ok: true, value: resolved } : { ok: false, unresolved };
};

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
