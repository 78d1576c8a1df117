import { ServiceError } from '@decision/contracts';

const DEFAULT_PAGE_SIZE = 100;
const MAX_PAGE_SIZE = 1_000;

/** Reads a whole number of a query. Throws `invalid_request` for one outside 1 to `most`. */
export const readCount = (name: string, text: string, most: number): number => {
  const count = Number(text);
  if (count >= 1 && count <= most) return count;
  const message = `must be from 1 to ${most}`;
  throw new ServiceError('invalid_request', `The parameter "${name}" is ${text}; it ${message}.`, {
    problems: [{ path: `/${name}`, message }],
  });
};

/** Reads `limit` and `cursor`. Throws `invalid_request` for a limit outside 1 to 1000. */
export const readPage = ({ limit, cursor }: { readonly limit?: string; readonly cursor?: string }) => ({
  limit: limit === undefined ? DEFAULT_PAGE_SIZE : readCount('limit', limit, MAX_PAGE_SIZE),
  cursor,
});
