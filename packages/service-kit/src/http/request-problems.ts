import { type SchemaProblem, ServiceError } from '@decision/contracts';

/** Where in a request a problem lies. */
export type RequestPart = 'body' | 'query';

/** The error for what does not follow its schema: the sentence names the first problem, `problems` lists them all. */
export const invalidRequest = (part: RequestPart, problems: readonly SchemaProblem[]): ServiceError => {
  const [first] = problems;
  const place = `${part === 'body' ? 'body' : 'query'}${first?.path === '' || first === undefined ? '' : ` at ${first.path}`}`;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  return new ServiceError('invalid_request', `The ${place} ${first?.message ?? 'is invalid'}${more}.`, {
    problems: problems.map(({ path, message }) => ({ in: part, path, message })),
  });
};
