import {
  compileValidator,
  FunctionContent,
  ServiceError,
  type SyncValuesRequest,
  VALUE_NAME_MAX_LENGTH,
  type ValueType,
  type WriteValuesRequest,
} from '@decision/contracts';
import { checkFunctionText, isObject } from '@decision/engine';
import { type SavedValue } from '@decision/persistence';
import { isGivenReference } from './bind-references';

/** Characters that names cannot have: a name is shown on one line, and stored as UTF-8. */
export const UNNAMEABLE = /[\u0000-\u001f\u007f\p{Surrogate}]/u;

/** One fault of a value to be written. */
interface ValueProblem {
  /** Name of the value. */
  readonly name: string;
  readonly message: string;
}

/** Content of a value. */
export interface ValueContent {
  readonly type: ValueType;
  readonly value: unknown;
}

/** Maximum number of values per request; larger sets need several requests. */
const MAX_WRITTEN_VALUES = 100_000;
const MAX_PROBLEMS = 100;
/** Maximum nesting of objects, and so number of parts of a name. */
const MAX_NAME_PARTS = 32;
const MAX_LIST_DEPTH = 50;
const MAX_REFERENCES = 1_000;
/** The key under which a function is written. */
const FUNCTION_KEY = '$function';

const checkFunctionContent = compileValidator(FunctionContent);

type Reading = { readonly content: ValueContent } | { readonly fault: string };

/**
 * The values of a request, nested objects as dotted names. Throws `value_invalid` with every fault, at most 100.
 */
export const readValues = (request: WriteValuesRequest): readonly SavedValue[] => {
  const { values, problems } = readMembers(request, []);
  requireNone(problems);
  return values;
};

/** The values of a request that can be stored, and the faults of the others. */
export interface ReadMembers {
  readonly values: readonly SavedValue[];
  /** At most 100. */
  readonly problems: readonly ValueProblem[];
  /** How many values the request has. */
  readonly processed: number;
}

/**
 * Reads the members of a collection, whose name is prepended to theirs. Members that cannot be stored are reported, not thrown. Throws
 * `value_invalid` if the name of the collection is invalid, or if more than 100 values have a fault.
 */
export const readCollection = (
  collection: string,
  { values = {}, metadata_by_name: metadata = {} }: Pick<SyncValuesRequest, 'values' | 'metadata_by_name'>,
): ReadMembers => {
  requireName(collection);
  const named = Object.fromEntries(Object.entries(metadata).map(([name, data]) => [`${collection}.${name}`, data]));
  const read = readMembers({ values, metadata_by_name: named }, collection.split('.'));
  if (read.problems.length >= MAX_PROBLEMS) throw invalid(read.problems.slice(0, MAX_PROBLEMS));
  return read;
};

const readMembers = (
  { values, metadata_by_name: metadata = {} }: WriteValuesRequest,
  parts: readonly string[],
): ReadMembers => {
  const reader = new ValuesReader();
  reader.readMembers(values, parts);
  const byName = new Map(Object.entries(metadata).map(([name, data]) => [name.normalize('NFC'), data]));
  const strays = [...byName.keys()].filter((name) => !reader.names.has(name));
  return {
    values: reader.saved.map((value) => ({ ...value, metadata: byName.get(value.name) })),
    problems: [
      ...reader.problems,
      ...strays.map((name) => ({
        name,
        message: `There is metadata for "${shown(name)}", but no value of this name.`,
      })),
    ],
    processed: reader.saved.length + reader.problems.length,
  };
};

/** Reads the content of one value. Throws `value_invalid`. */
export const readValue = (name: string, value: unknown): ValueContent => {
  const reading =
    isObject(value) && !isFunction(value)
      ? { fault: 'is an object; give its members as values of their own' }
      : readContent(value);
  if ('content' in reading) return reading.content;
  throw invalid([{ name, message: `The value "${name}" ${reading.fault}.` }]);
};

/** Throws `value_invalid` for an invalid name of a value. */
export const requireName = (name: string): void => {
  const fault = faultOfName(name);
  if (fault !== undefined) throw invalid([{ name, message: `The name "${shown(name)}" ${fault}.` }]);
};

class ValuesReader {
  readonly saved: { name: string; type: ValueType; content: unknown }[] = [];
  readonly problems: ValueProblem[] = [];
  readonly names = new Set<string>();

  readMembers(members: Readonly<Record<string, unknown>>, parts: readonly string[]): void {
    for (const [key, value] of Object.entries(members)) {
      if (this.problems.length >= MAX_PROBLEMS) return;
      this.readMember([...parts, key], value);
    }
  }

  private readMember(parts: readonly string[], value: unknown): void {
    const name = parts.join('.').normalize('NFC');
    if (parts.length > MAX_NAME_PARTS) return this.refuse(name, `nests deeper than ${MAX_NAME_PARTS} objects`);
    if (isObject(value) && !isFunction(value)) {
      if (Object.keys(value).length === 0) return this.refuse(name, 'is an empty object, which holds no value');
      return this.readMembers(value, parts);
    }
    const fault = faultOfName(name) ?? this.faultOfPlace(name);
    if (fault !== undefined) return this.refuse(name, fault);
    const reading = readContent(value);
    if ('fault' in reading) return this.refuse(name, reading.fault);
    this.saved.push({ name, type: reading.content.type, content: reading.content.value });
  }

  private faultOfPlace(name: string): string | undefined {
    if (this.names.has(name)) return 'is given twice, nested and with a dotted name';
    this.names.add(name);
    if (this.names.size <= MAX_WRITTEN_VALUES) return undefined;
    return `is one of more than ${MAX_WRITTEN_VALUES}; write them in several requests`;
  }

  private refuse(name: string, fault: string): void {
    this.problems.push({ name, message: `The value "${shown(name)}" ${fault}.` });
  }
}

const faultOfName = (name: string): string | undefined => {
  if (name.length > VALUE_NAME_MAX_LENGTH) return `has a name longer than ${VALUE_NAME_MAX_LENGTH} characters`;
  const parts = name.split('.');
  if (parts.some((part) => part.trim() === ''))
    return 'has a name with an empty part; a dot must stand between two words';
  if (parts.some((part) => part.startsWith('$')))
    return 'has a name with a part that begins with "$", which is reserved';
  return UNNAMEABLE.test(name) ? 'has a name with a control character, or half of a surrogate pair' : undefined;
};

const readContent = (value: unknown): Reading => {
  switch (typeof value) {
    case 'string':
      return { content: { type: 'string', value } };
    case 'number':
      return { content: { type: 'number', value } };
    case 'boolean':
      return { content: { type: 'boolean', value } };
    default:
      break;
  }
  if (Array.isArray(value)) return readList(value);
  return isFunction(value)
    ? readFunction(value[FUNCTION_KEY])
    : { fault: 'is null; a value is text, a number, true or false, a list or a function' };
};

const readList = (list: readonly unknown[]): Reading => {
  if (isDeeper(list, MAX_LIST_DEPTH)) return { fault: `is a list that nests deeper than ${MAX_LIST_DEPTH} levels` };
  const references = list.filter(isGivenReference).length;
  if (references > MAX_REFERENCES) return { fault: `is a list that holds more than ${MAX_REFERENCES} references` };
  if (holdsReserved(list.filter((element) => !isGivenReference(element)))) {
    return { fault: 'is a list that holds a reference elsewhere than as an element of its own' };
  }
  return { content: { type: 'list', value: list } };
};

const readFunction = (content: unknown): Reading => {
  const check = checkFunctionContent(content);
  if (!check.ok) {
    return {
      fault:
        'is a function that lacks its "parameters" (a list of names) or its "formula" (text), or has more than these',
    };
  }
  const fault = checkFunctionText(check.value);
  return fault === undefined
    ? { content: { type: 'function', value: check.value } }
    : { fault: `is a function that cannot be called: ${fault}` };
};

const isFunction = (value: unknown): value is Readonly<Record<typeof FUNCTION_KEY, unknown>> =>
  isObject(value) && Object.hasOwn(value, FUNCTION_KEY) && Object.keys(value).length === 1;

const partsOf = (value: unknown): readonly unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value) : [];

/** Whether lists and objects are nested deeper than the given levels. Looks no deeper than that. */
const isDeeper = (value: unknown, levels: number): boolean =>
  levels < 0
    ? true
    : partsOf(value).some((part) => typeof part === 'object' && part !== null && isDeeper(part, levels - 1));

/** Whether it contains an object with a reserved key. Its depth is at most that of lists. */
const holdsReserved = (value: unknown): boolean =>
  (isObject(value) && (Object.hasOwn(value, '$ref') || Object.hasOwn(value, '$rb'))) ||
  partsOf(value).some(holdsReserved);

/** A name as messages show it: not longer than names may be. */
const shown = (name: string): string => (name.length > 200 ? `${name.slice(0, 200)}...` : name);

const invalid = (problems: readonly ValueProblem[]): ServiceError => {
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more, see problems)` : '';
  return new ServiceError('value_invalid', `${problems[0]?.message ?? 'The values cannot be stored.'}${more}`, {
    problems: problems.map(({ name, message }) => ({ name: shown(name), message })),
  });
};

/** Throws `value_invalid` if there are problems. */
export const requireNone = (problems: readonly ValueProblem[]): void => {
  if (problems.length > 0) throw invalid(problems.slice(0, MAX_PROBLEMS));
};
