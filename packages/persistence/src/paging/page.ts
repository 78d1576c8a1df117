import { ServiceError } from '@decision/contracts';
import { isUuid } from '../connection/uuid';

/** The requested part of a list. */
export interface PageRequest {
  /** Largest number of entries, 1 or more. */
  readonly limit: number;
  /** End of the previous page; undefined for the first. */
  readonly cursor?: string | undefined;
}

/** End of a page of a newest-first list: the last entry's creation and, among entries of the same moment, its id. */
export interface Position {
  /** ISO 8601 UTC with milliseconds. */
  readonly createdAt: string;
  readonly id: string;
}

/** Writes the opaque text that a client sends back for the next page. */
export const writeCursor = ({ createdAt, id }: Position): string =>
  Buffer.from(JSON.stringify([createdAt, id])).toString('base64url');

/** Reads a cursor of {@link writeCursor}. Throws `invalid_request` for anything else. */
export const readCursor = (cursor: string): Position => {
  const [createdAt, id, ...rest] = parseArray(Buffer.from(cursor, 'base64url').toString());
  if (rest.length === 0 && isTime(createdAt) && typeof id === 'string' && isUuid(id)) return { createdAt, id };
  throw new ServiceError('invalid_request', 'The parameter "cursor" is not one that this list has answered.', {
    problems: [{ path: '/cursor', message: 'must be the next_cursor of an earlier page' }],
  });
};

const parseArray = (text: string): readonly unknown[] => {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
};

/** A time that the database supports: it has no year 0. */
const TIME = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const isTime = (value: unknown): value is string =>
  typeof value === 'string' &&
  TIME.test(value) &&
  !Number.isNaN(Date.parse(value)) &&
  new Date(value).toISOString() === value;

/** The part of a statement that starts after a cursor, and its bindings. */
interface PageStart {
  readonly condition: string;
  readonly bindings: { readonly after_time: string | null; readonly after_id: string | null };
}

/** The condition that an entry comes after the cursor; always true without a cursor. Throws `invalid_request`. */
export const startOfPage = (cursor: string | undefined, table: string): PageStart => {
  const position = cursor === undefined ? undefined : readCursor(cursor);
  return {
    condition: position
      ? `(${table}.created_at, ${table}.id) < (cast(:after_time as timestamptz), cast(:after_id as uuid))`
      : 'true',
    bindings: { after_time: position?.createdAt ?? null, after_id: position?.id ?? null },
  };
};

/** Number of entries to query: one more than the page shows whether another page follows. */
export const entriesToRead = (page: PageRequest): number => page.limit + 1;

/** Cuts the entries to the page and makes the cursor of the next one. */
export const takePage = <T extends Position>(
  read: readonly T[],
  page: PageRequest,
): { readonly entries: readonly T[]; readonly nextCursor: string | null } => {
  const entries = read.slice(0, page.limit);
  const last = entries.at(-1);
  return { entries, nextCursor: last !== undefined && read.length > page.limit ? writeCursor(last) : null };
};
