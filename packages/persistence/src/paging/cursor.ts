import { ServiceError } from '@decision/contracts';
import { isUuid } from '../connection/uuid';

/** End of a page of a newest-first list: the last entry's creation and, among those of one moment, its id. */
export interface Position {
  /** ISO 8601 UTC with milliseconds. */
  readonly createdAt: string;
  readonly id: string;
}

/** Makes the opaque text that a client sends back for the next page. */
export const writeCursor = ({ createdAt, id }: Position): string =>
  Buffer.from(JSON.stringify([createdAt, id])).toString('base64url');

/** Reads what {@link writeCursor} made. Throws `invalid_request` for anything else. */
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

/** A time that the database understands: it knows no year 0. */
const TIME = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const isTime = (value: unknown): value is string =>
  typeof value === 'string' &&
  TIME.test(value) &&
  !Number.isNaN(Date.parse(value)) &&
  new Date(value).toISOString() === value;
