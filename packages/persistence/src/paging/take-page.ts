import { type PageRequest } from './page';
import { type Position, readCursor, writeCursor } from './cursor';

/** The part of a statement that begins after a cursor, and the values it names. */
interface PageStart {
  readonly condition: string;
  readonly bindings: { readonly after_time: string | null; readonly after_id: string | null };
}

/** The condition under which an entry lies behind the cursor; everything does where there is none. Throws `invalid_request`. */
export const startOfPage = (cursor: string | undefined, table: string): PageStart => {
  const position = cursor === undefined ? undefined : readCursor(cursor);
  return {
    condition: position
      ? `(${table}.created_at, ${table}.id) < (cast(:after_time as timestamptz), cast(:after_id as uuid))`
      : 'true',
    bindings: { after_time: position?.createdAt ?? null, after_id: position?.id ?? null },
  };
};

/** Entries to ask the database for: one more than the page shows tells whether another page follows. */
export const entriesToRead = (page: PageRequest): number => page.limit + 1;

/** Cuts what was read to the page and makes the cursor of the next one. */
export const takePage = <T extends Position>(
  read: readonly T[],
  page: PageRequest,
): { readonly entries: readonly T[]; readonly nextCursor: string | null } => {
  const entries = read.slice(0, page.limit);
  const last = entries.at(-1);
  return { entries, nextCursor: last !== undefined && read.length > page.limit ? writeCursor(last) : null };
};
