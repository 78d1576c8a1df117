import { createHash } from 'node:crypto';
import { type QueryDecisionsQuery, ServiceError } from '@decision/contracts';
import { type DecisionFilters, type DecisionPosition, type DecisionSort, parseSearch } from '@decision/decision-logs';
import { readPageQuery } from '@decision/service-kit';

/** A parsed query. */
export interface DecisionQuery {
  readonly filters: DecisionFilters;
  readonly sort: DecisionSort;
  readonly isDescending: boolean;
  readonly after: DecisionPosition | undefined;
  readonly limit: number;
  readonly withTraces: boolean;
  readonly isCount: boolean;
  /** The cursor of a page that ends at a decision. */
  readonly cursorAt: (position: DecisionPosition) => string;
}

/** Maximum names in one filter. */
const MOST_NAMES = 100;

/**
 * Parses a query whose parameters match their schemas. Throws `invalid_request` for an invalid search, a start that is not before the end,
 * a limit outside 1 to 1000, more than 100 names, and a cursor of another query or workspace.
 */
export const readDecisionQuery = (query: QueryDecisionsQuery, workspaceId: string): DecisionQuery => {
  const { sort = 'time', order = 'desc', cursor, ...rest } = query;
  const { limit: asked, include_traces: traces, count, ...filters } = rest;
  const scope = fingerprint([workspaceId, sort, order, ...Object.entries(filters).sort()]);
  const { limit } = readPageQuery({ ...(asked === undefined ? {} : { limit: asked }) });
  return {
    filters: readFilters(query),
    sort,
    isDescending: order === 'desc',
    after: cursor === undefined ? undefined : readCursor(cursor, scope, sort),
    limit,
    withTraces: traces === 'true',
    isCount: count === 'true',
    cursorAt: ({ id, key }) => Buffer.from(JSON.stringify([scope, id, key])).toString('base64url'),
  };
};

/** The filters of a query or summary. Throws as {@link readDecisionQuery} does. */
export const readFilters = (
  query: Omit<QueryDecisionsQuery, 'limit' | 'sort' | 'order' | 'cursor' | 'count'>,
): DecisionFilters => {
  const { search, item_filter: items, start, end, rules, flows, contexts, trace, statuses } = query;
  if (start !== undefined && end !== undefined && Date.parse(start) >= Date.parse(end))
    throw invalid('start', 'must be before "end"');
  return {
    search: search === undefined ? undefined : parseSearch(search),
    items: items === undefined ? undefined : parseSearch(items, 'item_filter'),
    rules: namesOf('rules', rules),
    flows: namesOf('flows', flows),
    contexts: namesOf('contexts', contexts),
    trace: trace?.toLowerCase(),
    statuses: statuses?.split(',').map(Number),
    start: start && momentOf(start),
    end: end && momentOf(end),
  };
};

const FIRST_MOMENT = Date.parse('0001-01-01T00:00:00.000Z');

/** In UTC, and not in the first year, from which the day before may lead to year 0, which the database does not have. */
const momentOf = (time: string): string => new Date(Math.max(Date.parse(time), FIRST_MOMENT)).toISOString();

const namesOf = (parameter: string, text: string | undefined): readonly string[] | undefined => {
  if (text === undefined) return undefined;
  const names = text.split(',').map((name) => name.trim());
  if (names.includes('')) throw invalid(parameter, 'holds an empty name');
  if (names.length > MOST_NAMES)
    throw invalid(parameter, `names ${names.length} things; ${MOST_NAMES} at most are read`);
  return names;
};

const invalid = (parameter: string, message: string): ServiceError =>
  new ServiceError('invalid_request', `The parameter "${parameter}" ${message}.`, {
    problems: [{ in: 'query', path: `/${parameter}`, message }],
  });

const fingerprint = (parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 16);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/;

const readCursor = (cursor: string, scope: string, sort: DecisionSort): DecisionPosition => {
  const [given, id, key] = parseArray(Buffer.from(cursor, 'base64url').toString());
  const isKey =
    sort === 'time'
      ? key === null
      : sort === 'status'
        ? Number.isInteger(key) && (key as number) < 1_000
        : typeof key === 'string'; // an integer
  if (given === scope && typeof id === 'string' && UUID.test(id) && isKey)
    return { id, key: key as string | number | null }; // checked just now
  throw invalid(
    'cursor',
    'is not a cursor of this query; send a cursor with the filters, sort and order of the answer that contained it',
  );
};

const parseArray = (text: string): readonly unknown[] => {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
};
