import { type Comparison, type Literal, type Search, type SearchField } from '@decision/decision-logs';
import { type StatementValues } from './statement';

const COLUMNS = {
  name: 'name',
  type: 'type',
  selector: 'selector',
  error: 'error',
  trace_id: 'trace_id',
  execution_id: 'execution_id',
  request_id: 'request_id',
  key_id: 'key_id',
  context: 'context',
  instance: 'instance',
  flow: 'flow',
  status: 'status',
  duration: '(CAST(duration_us AS DOUBLE) / 1000)',
} as const;

const isNumeric = (field: keyof typeof COLUMNS): boolean => field === 'status' || field === 'duration';

/**
 * Compiles a search to the engine's SQL with the same meaning as `matches` of `packages/decision-logs`
 * (docs/adr/0050-one-search-two-meanings-that-agree.md); the result is true or false, never null. SQL reads plain paths in documents; paths
 * through lists, unusual names and words go to `holds`, which calls `matches` itself.
 */
export const searchSql = (search: Search, values: StatementValues): string => {
  switch (search.kind) {
    case 'and':
    case 'or':
      return `(${search.parts.map((part) => searchSql(part, values)).join(` ${search.kind} `)})`;
    case 'comparison':
      return comparisonOf(search, values);
    case 'word':
      return wordOf(search, values);
    case 'id': {
      const hex = values.bind(search.hex);
      return `(trace_id IS NOT DISTINCT FROM ${hex} OR execution_id IS NOT DISTINCT FROM ${hex} OR request_id = ${values.bind(search.text)})`;
    }
  }
};

const comparisonOf = (comparison: Comparison, values: StatementValues): string => {
  const { field, operator, value } = comparison;
  if (operator === '!=') return `NOT ${comparisonOf({ ...comparison, operator: '=' }, values)}`;
  if (operator === '!:') return `NOT ${comparisonOf({ ...comparison, operator: ':' }, values)}`;
  if ('path' in field) return inDocument(field, { ...comparison, operator }, values);
  const column = COLUMNS[field.of];
  if (isNumeric(field.of)) {
    const compared = operator === ':' ? '=' : operator;
    return value.number === undefined ? 'false' : `(${column} ${compared} ${numberOf(value.number, values)})`;
  }
  if (operator === ':') return containsIn(column, value, values);
  if (operator !== '=' && value.number !== undefined) return 'false';
  return `coalesce(${column} ${operator} ${values.bind(value.text)}, false)`;
};

/** As a double, also beyond the largest one. */
const numberOf = (text: string, values: StatementValues): string => {
  const number = Number(text);
  if (Number.isFinite(number)) return `CAST(${values.bind(number)} AS DOUBLE)`;
  return number > 0 ? `CAST('Infinity' AS DOUBLE)` : `CAST('-Infinity' AS DOUBLE)`;
};

const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const lowered = (text: string): string => `translate(${text}, '${UPPER}', '${UPPER.toLowerCase()}')`;
const loweredText = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

const containsIn = (text: string, value: Literal, values: StatementValues): string =>
  `coalesce(contains(${lowered(text)}, ${values.bind(loweredText(value.text))}), false)`;

type PathField = Extract<SearchField, { readonly path: readonly string[] }>;
type PositiveOperator = Exclude<Comparison['operator'], '!=' | '!:'>;

/** Names that need no escaping in a path of the engine. */
const PLAIN_NAME = /^[A-Za-z0-9_ $.-]+$/;

/**
 * Compares the value at a path: SQL compares a single value. A list at the path, or along it, stands for its items, so `holds` tests it.
 */
const inDocument = (
  field: PathField,
  comparison: Comparison & { readonly operator: PositiveOperator },
  values: StatementValues,
): string => {
  values.readsDocuments = true;
  const byMatches = `holds(${values.bindNode(comparison)}, ${field.of})`;
  if (!field.path.every((name) => PLAIN_NAME.test(name))) return byMatches;
  const pathTo = (depth: number): string =>
    values.bind(`$${field.path.slice(0, depth).map((name) => `."${name}"`).join('')}`); // prettier-ignore
  const path = pathTo(field.path.length);
  const type = `json_type(${field.of}, ${path})`;
  const text = `json_extract_string(${field.of}, ${path})`;
  const prefixes = field.path.map((_, depth) => `json_type(${field.of}, ${pathTo(depth)}) = 'ARRAY'`);
  return `(CASE coalesce(${type}, '')
    WHEN '' THEN contains(${field.of}, '[') AND coalesce(${prefixes.join(' OR ')}, false) AND ${byMatches}
    WHEN 'ARRAY' THEN ${byMatches}
    ${casesOf(comparison, text, values)}
    ELSE false END)`;
};

const NUMBER_TYPES = ['BIGINT', 'UBIGINT', 'DOUBLE'];

const casesOf = (
  { operator, value }: Comparison & { readonly operator: PositiveOperator },
  text: string,
  values: StatementValues,
): string => {
  const cases: string[] = [];
  if (value.number !== undefined) {
    const compared = `CAST(${text} AS DOUBLE) ${operator === ':' ? '=' : operator} ${numberOf(value.number, values)}`;
    cases.push(...NUMBER_TYPES.map((type) => `WHEN '${type}' THEN ${compared}`));
  }
  if (operator === '=' && typeof value.constant === 'boolean')
    cases.push(`WHEN 'BOOLEAN' THEN ${text} = '${String(value.constant)}'`);
  if (operator === '=' && value.constant === null) cases.push(`WHEN 'NULL' THEN true`);
  if (operator === ':') cases.push(`WHEN 'VARCHAR' THEN ${containsIn(text, value, values)}`);
  else if (operator === '=' || value.number === undefined)
    cases.push(`WHEN 'VARCHAR' THEN ${text} ${operator} ${values.bind(value.text)}`);
  return cases.join(' ');
};

/** Text that JSON does not escape, so it is part of the document's text if any value contains it. */
const PLAIN = /^[^"\\\u0000-\u001f\u007f]*$/;
const PLAIN_NUMBER = /^[1-9]\d{0,14}$/;

/** Testing every value is costly, so the text of the document is tested first where possible. */
const wordOf = (search: Extract<Search, { readonly kind: 'word' }>, values: StatementValues): string => {
  values.readsDocuments = true;
  const { value: word } = search;
  const isPlain = word.number === undefined ? PLAIN.test(word.text) : PLAIN_NUMBER.test(word.number);
  const node = values.bindNode(search);
  const standsIn = (document: string): string => {
    const found = `holds(${node}, ${document})`;
    // This folds the case of more letters than A to Z, so it misses no match.
    return isPlain ? `(contains(lower(${document}), lower(${values.bind(word.text)})) AND ${found})` : found;
  };
  const own = [COLUMNS.name, COLUMNS.error].map((column) => containsIn(column, word, values));
  return `(${[...own, standsIn('request'), standsIn('response')].join(' OR ')})`;
};
