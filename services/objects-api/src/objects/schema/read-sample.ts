import { FieldList } from './field-list';
import {
  ContentFault,
  type ContentField,
  contentLimits,
  type FieldScope,
  isJsonObject,
  type JsonObject,
  pointerTo,
} from './parsed-content';
import { typeOfData } from './read-schema';

/**
 * The fields of a plain JSON object, with the types of its data. Objects in lists give fields of the list's elements. Throws a {@link
 * ContentFault} for an object that is too large to be read.
 */
export const readSample = (sample: JsonObject): readonly ContentField[] => {
  const reader = new SampleReader();
  reader.readMembers(sample, { parts: [], pointer: '', scope: 'root' });
  return reader.fields.toArray();
};

interface Place {
  readonly parts: readonly string[];
  readonly pointer: string;
  readonly scope: FieldScope;
}

class SampleReader {
  readonly fields = new FieldList();
  private steps = 0;

  readMembers(object: JsonObject, { parts, pointer, scope }: Place): void {
    for (const [key, value] of Object.entries(object)) {
      const place = { parts: [...parts, key], pointer: pointerTo(pointer, key) };
      this.count(place);
      this.fields.open(place.parts, place.pointer, scope).add({ type: typeOfData(value), required: false });
      if (isJsonObject(value)) this.readMembers(value, { ...place, scope: scope === 'item' ? 'item' : 'nested' });
      if (Array.isArray(value)) this.readElements(value, place);
    }
  }

  private readElements(list: readonly unknown[], { parts, pointer }: Omit<Place, 'scope'>): void {
    for (const [index, element] of list.entries()) {
      this.count({ pointer });
      if (isJsonObject(element))
        this.readMembers(element, { parts, pointer: pointerTo(pointer, index), scope: 'item' });
      if (Array.isArray(element)) this.readElements(element, { parts, pointer: pointerTo(pointer, index) });
    }
  }

  private count({ pointer }: Pick<Place, 'pointer'>): void {
    this.steps += 1;
    if (this.steps <= contentLimits.steps) return;
    throw new ContentFault(pointer, `The object holds more than ${contentLimits.steps} members and elements; a shorter list has the same fields.`); // prettier-ignore
  }
}
