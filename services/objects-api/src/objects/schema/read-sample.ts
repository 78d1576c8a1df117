import { FieldList } from './field-list';
import { isJsonObject, type JsonObject, pointerTo } from './json-object';
import { type ContentField, type FieldScope } from './parsed-content';
import { typeOfData } from './schema-types';

/** The fields of a plain JSON object, with the types of what it holds. Objects in lists give fields of the list's elements. */
export const readSample = (sample: JsonObject): readonly ContentField[] => {
  const fields = new FieldList();
  readMembers(fields, sample, { parts: [], pointer: '', scope: 'root' });
  return fields.toArray();
};

interface Place {
  readonly parts: readonly string[];
  readonly pointer: string;
  readonly scope: FieldScope;
}

const readMembers = (fields: FieldList, object: JsonObject, { parts, pointer, scope }: Place): void => {
  for (const [key, value] of Object.entries(object)) {
    const place = { parts: [...parts, key], pointer: pointerTo(pointer, key) };
    fields.open(place.parts, place.pointer, scope).add({ type: typeOfData(value), required: false });
    if (isJsonObject(value)) readMembers(fields, value, { ...place, scope: scope === 'item' ? 'item' : 'nested' });
    if (Array.isArray(value)) readElements(fields, value, place);
  }
};

const readElements = (fields: FieldList, list: readonly unknown[], { parts, pointer }: Omit<Place, 'scope'>): void => {
  for (const [index, element] of list.entries()) {
    const place = { parts, pointer: pointerTo(pointer, index) };
    if (isJsonObject(element)) readMembers(fields, element, { ...place, scope: 'item' });
    if (Array.isArray(element)) readElements(fields, element, place);
  }
};
