import { type Comparison, type Literal, type Search, type SearchField } from '@decision/decision-logs';
import { type Bindings } from '../connection/query';

/** A condition on rows of `decision_log`, with its bindings. It is true or false, never null. */
export interface SqlCondition {
  readonly sql: string;
  readonly bindings: Bindings;
}

/** The context of a run, and its instance, if the access sees the context. */
const whereContextIsSeen = (column: string): string =>
  `(case when (select app_is_unrestricted()) or context_slug in (select contexts.slug from contexts) then ${column} end)`;

/** Where an operation ran, as far as the access may see it. */
export const PLACE_COLUMNS = {
  context: whereContextIsSeen('context_slug'),
  instance: whereContextIsSeen('instance'),
  flow: `(case when (select app_is_unrestricted()) or flow_slug in (select assets.slug from assets where assets.kind = 'flow') then flow_slug end)`,
} as const;

const COLUMNS = {
  ...PLACE_COLUMNS,
  name: 'slug',
  type: 'kind',
  selector: 'selector',
  error: 'error_code',
  trace_id: 'trace_id',
  execution_id: 'execution_id',
  request_id: 'request_id',
  key_id: 'key_id',
  status: 'status',
  duration: '(duration_us / 1000.0)',
} as const;

const isNumeric = (column: string): boolean => column === COLUMNS.status || column === COLUMNS.duration;

/**
 * Compiles a search to SQL with the meaning of `matches` in `packages/decision-logs`. Everything from the text of the search is a bound
 * value: also the names of a path, which are quoted within the text of a path expression. `prefix` starts the names of the bindings.
 */
export const searchSql = (search: Search, prefix: string): SqlCondition => {
  const values: string[] = [];
  const bind = (value: string): string => `:${prefix}${values.push(value)}`;
  const sql = conditionOf(search, bind);
  return { sql, bindings: Object.fromEntries(values.map((value, index) => [`${prefix}${index + 1}`, value])) };
};

/** Binds a value and answers its name. */
type Bind = (value: string) => string;

const conditionOf = (search: Search, bind: Bind): string => {
  switch (search.kind) {
    case 'and':
    case 'or':
      return `(${search.parts.map((part) => conditionOf(part, bind)).join(` ${search.kind} `)})`;
    case 'comparison':
      return comparisonOf(search, bind);
    case 'word':
      return wordOf(search.value, bind);
    case 'id': {
      const hex = bind(search.hex);
      return `(trace_id is not distinct from ${hex} or execution_id is not distinct from ${hex} or request_id = ${bind(search.text)})`;
    }
  }
};

const comparisonOf = ({ field, operator, value }: Comparison, bind: Bind): string => {
  if (operator === '!=') return `not ${comparisonOf({ kind: 'comparison', field, operator: '=', value }, bind)}`;
  if (operator === '!:') return `not ${comparisonOf({ kind: 'comparison', field, operator: ':', value }, bind)}`;
  if ('path' in field)
    return operator === ':' ? containsAt(field, value, bind) : comparesAt(field, operator, value, bind);
  const column = COLUMNS[field.of];
  if (operator === ':') return containsIn(column, value, bind);
  if (isNumeric(column))
    return value.number === undefined ? 'false' : `(${column} ${operator} cast(${bind(value.number)} as numeric))`;
  if (operator !== '=' && value.number !== undefined) return 'false';
  return `coalesce(${column} ${operator} ${bind(value.text)}, false)`;
};

const containsIn = (column: string, value: Literal, bind: Bind): string => {
  if (isNumeric(column))
    return value.number === undefined ? 'false' : `(${column} = cast(${bind(value.number)} as numeric))`;
  return `coalesce(position(lower(${bind(value.text)} collate "C") in lower(${column} collate "C")) > 0, false)`;
};

type PathField = Extract<SearchField, { readonly path: readonly string[] }>;

/** A path expression in lax mode: lists along the path stand for their items. */
const pathOf = ({ path }: PathField): string => `lax $${path.map((name) => `.${JSON.stringify(name)}`).join('')}`;

const comparesAt = (field: PathField, operator: string, value: Literal, bind: Bind): string => {
  const compared = operator === '=' ? '==' : operator;
  const cases: string[] = [];
  if (operator === '=' || value.number === undefined) cases.push(`@ ${compared} $text`);
  if (value.number !== undefined) cases.push(`@ ${compared} $number`);
  if (operator === '=' && value.constant !== undefined) cases.push(`@ == ${String(value.constant)}`);
  const path = bind(`${pathOf(field)}[*] ? (${cases.join(' || ')})`);
  const number = value.number === undefined ? '' : `,"number":${value.number}`;
  const variables = bind(`{"text":${JSON.stringify(value.text)}${number}}`);
  return `coalesce(jsonb_path_exists(${field.of}, cast(${path} as jsonpath), cast(${variables} as jsonb), true), false)`;
};

/** Whether a path expression finds the number, or a text that contains the text. */
const containedIn = (document: string, path: string, value: Literal, bind: Bind): string => {
  const text = `jsonb_typeof(found) = 'string' and position(lower(${bind(value.text)} collate "C") in lower((found #>> '{}') collate "C")) > 0`;
  const number =
    value.number === undefined
      ? ''
      : ` or (jsonb_typeof(found) = 'number' and found = to_jsonb(cast(${bind(value.number)} as numeric)))`;
  return `exists (select from jsonb_path_query(${document}, cast(${bind(path)} as jsonpath), '{}', true) as found where (${text})${number})`;
};

const containsAt = (field: PathField, value: Literal, bind: Bind): string =>
  containedIn(field.of, `${pathOf(field)}[*][*][*]`, value, bind);

/** Text that JSON does not escape, and so appears unchanged in the document's text if a value contains it. */
const PLAIN = /^[^"\\\u0000-\u001f\u007f]*$/;
const PLAIN_NUMBER = /^[1-9]\d*$/;

/** Searching every value is expensive: if possible, the text of the document is searched first. */
const wordOf = (word: Literal, bind: Bind): string => {
  const isPlain = word.number === undefined ? PLAIN.test(word.text) : PLAIN_NUMBER.test(word.number);
  const standsIn = (document: string): string => {
    const found = containedIn(document, 'strict $.**', word, bind);
    if (!isPlain) return found;
    return `(position(lower(${bind(word.text)} collate "C") in lower(cast(${document} as text) collate "C")) > 0 and ${found})`;
  };
  const own = [COLUMNS.name, COLUMNS.error].map((column) => containsIn(column, word, bind));
  return `(${[...own, standsIn('request'), standsIn('response')].join(' or ')})`;
};
