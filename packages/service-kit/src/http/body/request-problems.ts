import { MAX_PROBLEMS, type SchemaProblem, ServiceError } from '@decision/contracts';

/** Part of a request that has a problem. */
type RequestPart = 'body' | 'query';

/** The error for what does not follow its schema: the sentence names the first problem, `problems` lists all that were looked for. */
export const invalidRequest = (part: RequestPart, problems: readonly SchemaProblem[]): ServiceError => {
  const [first] = problems;
  const place = `${part === 'body' ? 'body' : 'query'}${first?.path === '' || first === undefined ? '' : ` at ${first.path}`}`;
  const others = `${problems.length < MAX_PROBLEMS ? '' : 'at least '}${problems.length - 1} more`;
  const more = problems.length > 1 ? ` (and ${others})` : '';
  return new ServiceError('invalid_request', `The ${place} ${first?.message ?? 'is invalid'}${more}.`, {
    problems: problems.map(({ path, message }) => ({ in: part, path, message })),
  });
};
