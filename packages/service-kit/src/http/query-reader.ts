import { compileValidator, type SchemaProblem } from '@decision/contracts';
import { invalidRequest } from './body/request-problems';
import { type Schema, type StaticOf } from './static-of';

/** Reads the query of a request: the text behind the question mark, undecoded. Throws `invalid_request` that lists every problem. */
type QueryReader<S extends Schema> = (query: string) => StaticOf<S>;

/**
 * A reader of queries of this schema, whose fields are texts, or lists of texts where a parameter may be repeated. A parameter that is
 * given twice, cannot be decoded or holds a NUL is a problem; it is never guessed at.
 */
export const createQueryReader = <S extends Schema>(schema: S): QueryReader<S> => {
  const check = compileValidator(schema);
  const lists = listFieldsOf(schema);
  return (query) => {
    const { values, problems } = parseQuery(query, lists);
    if (problems.length > 0) throw invalidRequest('query', problems);
    const checked = check(values);
    if (!checked.ok) throw invalidRequest('query', checked.problems);
    return checked.value; // the validator of this very schema accepted it
  };
};

const listFieldsOf = (schema: Schema): ReadonlySet<string> => {
  const { properties = {} } = schema as { properties?: Record<string, { type?: unknown }> }; // a query schema is an object schema
  return new Set(Object.keys(properties).filter((name) => properties[name]?.type === 'array'));
};

type QueryValues = Record<string, string | string[]>;

const parseQuery = (query: string, lists: ReadonlySet<string>): { values: QueryValues; problems: SchemaProblem[] } => {
  const values: QueryValues = Object.create(null) as QueryValues; // no prototype: `__proto__` is a name like any other
  const problems: SchemaProblem[] = [];
  for (const pair of query.split('&').filter((part) => part !== '')) {
    const separator = pair.indexOf('=');
    const name = decode(separator < 0 ? pair : pair.slice(0, separator));
    const value = decode(separator < 0 ? '' : pair.slice(separator + 1));
    const problem = name === undefined || value === undefined ? 'cannot be decoded' : add(values, lists, name, value);
    if (problem !== undefined) problems.push({ path: name === undefined ? '' : pointer(name), message: problem });
  }
  return { values, problems };
};

/** Adds one parameter; answers what is wrong with that, if anything. */
const add = (values: QueryValues, lists: ReadonlySet<string>, name: string, value: string): string | undefined => {
  if (name.includes('\0') || value.includes('\0')) return 'holds a NUL character';
  const before = values[name];
  if (lists.has(name)) values[name] = [...(Array.isArray(before) ? before : []), value];
  else if (before === undefined) values[name] = value;
  else return 'must be given only once';
  return undefined;
};

const decode = (text: string): string | undefined => {
  const spaced = text.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    return undefined;
  }
};

const pointer = (name: string): string => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
