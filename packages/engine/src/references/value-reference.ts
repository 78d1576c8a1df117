import { isObject } from '../values/value-type';

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
