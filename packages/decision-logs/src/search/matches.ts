import { type Comparison, type ComparisonOperator, type Literal, type Search, type SearchField } from './syntax-tree';

/** One decision as a search sees it. */
export interface SearchedRecord {
  readonly name: string;
  readonly type: string;
  readonly selector: string;
  readonly error: string | null;
  readonly trace_id: string | null;
  readonly execution_id: string | null;
  readonly request_id: string;
  readonly key_id: string;
  readonly context: string | null;
  readonly instance: string | null;
  readonly flow: string | null;
  /** HTTP status. */
  readonly status: number;
  /** Milliseconds. */
  readonly duration: number;
  readonly request: unknown;
  readonly response: unknown;
}

/**
 * Whether a decision matches a search. The database evaluates the same tree with the same result, with numbers as doubles
 * (docs/adr/0050-one-search-two-meanings-that-agree.md). A comparison holds if it holds for any value at its path, or any item of a list
 * there. `!=` and `!:` hold if `=` and `:` do not, also without a value.
 */
export const matches = (search: Search, record: SearchedRecord): boolean => {
  switch (search.kind) {
    case 'and':
      return search.parts.every((part) => matches(part, record));
    case 'or':
      return search.parts.some((part) => matches(part, record));
    case 'comparison':
      return compares(search, record);
    case 'word':
      return holdsWord(search.value, record);
    case 'id':
      return [record.trace_id, record.execution_id].includes(search.hex) || record.request_id === search.text;
  }
};

const compares = ({ field, operator, value }: Comparison, record: SearchedRecord): boolean => {
  if (operator === '!=') return !valuesAt(field, record).some((found) => holds(found, '=', value));
  if (operator === '!:') return !valuesAt(field, record).some((found) => holds(found, ':', value));
  return valuesAt(field, record).some((found) => holds(found, operator, value));
};

/** Maximum depth of nested lists that stand for their items. */
const UNWRAPPED = 3;

const valuesAt = (field: SearchField, record: SearchedRecord): readonly unknown[] => {
  if (!('path' in field)) return record[field.of] === null ? [] : [record[field.of]];
  let found: readonly unknown[] = [record[field.of]];
  for (const name of field.path) found = found.flatMap((value) => memberOf(value, name));
  for (let level = 0; level < UNWRAPPED; level += 1) found = found.flatMap((value) => value);
  return found;
};

const memberOf = (value: unknown, name: string): readonly unknown[] =>
  (Array.isArray(value) ? (value as readonly unknown[]) : [value]).flatMap((item) =>
    typeof item === 'object' && item !== null && !Array.isArray(item) && Object.hasOwn(item, name)
      ? [(item as Readonly<Record<string, unknown>>)[name]]
      : [],
  );

const holds = (found: unknown, operator: Exclude<ComparisonOperator, '!=' | '!:'>, value: Literal): boolean => {
  if (operator === ':') return contains(found, value);
  if (typeof found === 'number' && value.number !== undefined) return inOrder(found - Number(value.number), operator);
  if (operator === '=' && (found === null || typeof found === 'boolean')) return found === value.constant;
  if (typeof found !== 'string') return false;
  if (operator === '=') return found === value.text;
  // Numbers have no order relative to texts.
  return value.number === undefined && inOrder(Buffer.compare(Buffer.from(found), Buffer.from(value.text)), operator);
};

const inOrder = (difference: number, operator: '=' | '>' | '>=' | '<' | '<='): boolean => {
  if (operator === '=') return difference === 0;
  if (difference === 0) return operator.endsWith('=');
  return difference > 0 === operator.startsWith('>');
};

/** Whether a text holds another one, in any case of the letters A to Z; a number is only contained in itself. */
const contains = (found: unknown, value: Literal): boolean => {
  if (typeof found === 'number') return value.number !== undefined && found === Number(value.number);
  return typeof found === 'string' && lowered(found).includes(lowered(value.text));
};

const lowered = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

const holdsWord = (word: Literal, { name, error, request, response }: SearchedRecord): boolean =>
  contains(name, word) || contains(error, word) || standsIn(request, word) || standsIn(response, word);

const standsIn = (value: unknown, word: Literal): boolean => {
  if (typeof value !== 'object' || value === null) return contains(value, word);
  return Object.values(value).some((part) => standsIn(part, word));
};
