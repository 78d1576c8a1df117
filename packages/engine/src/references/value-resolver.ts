import { measureValue } from '@decision/expressions';
import { frozenCopy } from '../values/frozen-copy';
import { isTooDeep } from '../values/json-depth';
import { asReference, holdsReference, mapReferences, referencedName } from './value-reference';
import { type ValueSource } from './value-source';

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
