import { ServiceError } from '@decision/contracts';

/** Which page of a list is asked for. */
export interface PageQuery {
  readonly limit: number;
  readonly cursor: string | undefined;
}

export const DEFAULT_PAGE_SIZE = 100;
export const MAX_PAGE_SIZE = 1000;

/** Reads `limit` and `cursor`; throws `invalid_request` for a limit outside 1 to 1000. */
export const readPageQuery = (query: { readonly limit?: string; readonly cursor?: string }): PageQuery => {
  const limit = query.limit === undefined ? DEFAULT_PAGE_SIZE : Number(query.limit);
  if (limit >= 1 && limit <= MAX_PAGE_SIZE) return { limit, cursor: query.cursor };
  throw new ServiceError(
    'invalid_request',
    `The parameter "limit" is ${query.limit ?? ''}; it must be from 1 to ${MAX_PAGE_SIZE}.`,
    {
      problems: [{ path: '/limit', message: `must be from 1 to ${MAX_PAGE_SIZE}` }],
    },
  );
};
