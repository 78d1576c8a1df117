import { type ValueRecord } from '@decision/contracts';
import {
  findReferringValues,
  findValues,
  isValueReference,
  referencesIn,
  type SavedValue,
  type Transaction,
  type ValueReference,
} from '@decision/persistence';

/** An element of a list that refers to a value, as a client writes it. */
type GivenReference = ValueReference | { readonly $ref: string };

/** `{"$ref": "<name>"}`, or the form in which lists show it. */
export const isGivenReference = (element: unknown): element is GivenReference =>
  typeof element === 'object' &&
  element !== null &&
  !Array.isArray(element) &&
  (isNamed(element) || (isValueReference(element) && element.$rb === 'globalValue'));

const isNamed = (element: object): element is { readonly $ref: string } =>
  '$ref' in element && typeof element.$ref === 'string' && Object.keys(element).length === 1;

export const holdsReferences = ({ content }: Pick<SavedValue, 'content'>): boolean =>
  Array.isArray(content) && content.some(isGivenReference);

/** Values that these contents refer to. */
export const referredTo = (contents: readonly unknown[]): { readonly ids: string[]; readonly names: string[] } => {
  const references = contents.flatMap((content) => (Array.isArray(content) ? content.filter(isGivenReference) : []));
  return {
    ids: references.flatMap((reference) => ('$ref' in reference ? [] : [reference.id])),
    names: references.flatMap((reference) => ('$ref' in reference ? [reference.$ref.normalize('NFC')] : [])),
  };
};

interface BoundValues {
  readonly bound: readonly SavedValue[];
  readonly problems: readonly { readonly name: string; readonly message: string }[];
}

/**
 * Binds lists to the values that they refer to by name or id, one level deep: a list that refers to values cannot itself be referred to, so
 * there are no cycles. A reference that is already in a list may stay there, even if the caller does not see its value (V3). The caller writes
 * the lists after the other values of the request.
 */
export const bindReferences = async (transaction: Transaction, lists: readonly SavedValue[]): Promise<BoundValues> => {
  const found = await findValues(transaction, referredTo(lists.map(({ content }) => content)));
  const existing = await findValues(transaction, { names: lists.map(({ name }) => name) });
  const referring = await findReferred(transaction, existing);
  const source = {
    byId: new Map(found.map((value) => [value.id, value])),
    byName: new Map(found.map((value) => [value.name, value])),
    writing: new Set(lists.map(({ name }) => name)),
    standing: new Map(existing.map(({ name, content }) => [name, referencesById(content)])),
  };
  const problems: { name: string; message: string }[] = [];
  const bound = lists.flatMap((list) => {
    const fault = referring.has(list.name)
      ? 'is referred to by a list, so it cannot refer to values itself'
      : undefined;
    const binding = fault === undefined ? bindList(list, source) : { fault };
    if (!('fault' in binding)) return [binding];
    problems.push({ name: list.name, message: `The value "${list.name}" ${binding.fault}.` });
    return [];
  });
  return { bound, problems };
};

interface ReferenceSource {
  readonly byId: ReadonlyMap<string, ValueRecord>;
  readonly byName: ReadonlyMap<string, ValueRecord>;
  /** Names of lists that refer to values. */
  readonly writing: ReadonlySet<string>;
  /** Current references of each list, by its name, then by id of the value. */
  readonly standing: ReadonlyMap<string, ReadonlyMap<string, ValueReference>>;
}

const referencesById = (content: unknown): ReadonlyMap<string, ValueReference> =>
  new Map(
    (Array.isArray(content) ? (content as readonly unknown[]) : [])
      .filter(isValueReference)
      .map((reference) => [reference.id, reference]),
  );

const bindList = (list: SavedValue, source: ReferenceSource): SavedValue | { fault: string } => {
  const { byId, byName, writing } = source;
  const content: unknown[] = [];
  for (const element of list.content as readonly unknown[]) {
    // only lists hold references
    if (!isGivenReference(element)) {
      content.push(element);
      continue;
    }
    const shown = '$ref' in element ? element.$ref : element.name;
    const value = '$ref' in element ? byName.get(element.$ref.normalize('NFC')) : byId.get(element.id);
    const standing = '$ref' in element ? undefined : source.standing.get(list.name)?.get(element.id);
    if (value === undefined && standing !== undefined) {
      content.push(standing);
      continue;
    }
    if (value === undefined) return { fault: `refers to "${shown}", which is no value that this key sees` };
    if (value.type === 'function') return { fault: `refers to "${shown}", which is a function` };
    if (value.refersTo.length > 0 || writing.has(value.name)) {
      return { fault: `refers to "${shown}", which is a list that refers to values itself` };
    }
    content.push({ $rb: 'globalValue', id: value.id, name: value.name });
  }
  return { ...list, content, refersTo: [...new Set(referencesIn(content))] };
};

/** Names of the lists that others refer to. */
const findReferred = async (
  transaction: Transaction,
  existing: readonly ValueRecord[],
): Promise<ReadonlySet<string>> => {
  const referring = await findReferringValues(
    transaction,
    existing.map(({ id }) => id),
  );
  const referred = new Set(referring.flatMap(({ refersTo }) => refersTo));
  return new Set(existing.filter(({ id }) => referred.has(id)).map(({ name }) => name));
};
