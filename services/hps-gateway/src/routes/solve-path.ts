import { type ExplainMode, ServiceError } from '@decision/contracts';

/** Path of a solve request. */
export interface SolvePath {
  /** Whether the body must be a list. */
  readonly bulk: boolean;
  readonly slug: string;
  readonly selector: string;
  readonly explain: ExplainMode;
  /** Whether the address names the selector. */
  readonly named: boolean;
}

const PREFIXES = [
  { prefix: '/api/v1/solve/', bulk: false },
  { prefix: '/api/v1/bulk-solve/', bulk: true },
];
const EXPLAIN: Readonly<Record<string, ExplainMode>> = { true: 'brief', false: 'none', all: 'all' };
const MAX_SEGMENT = 200;

/**
 * Reads the address of a solve request: `/api/v1/solve/{slug}`, `/api/v1/bulk-solve/{slug}`, each perhaps with a selector. Answers undefined for any other
 * path. Throws `invalid_url` where a segment cannot be decoded and `invalid_request` for an unknown value of `explain`.
 */
export const parseSolvePath = (url: string): SolvePath | undefined => {
  const route = PREFIXES.find(({ prefix }) => url.startsWith(prefix));
  if (route === undefined) return undefined;
  const queryAt = url.indexOf('?');
  const segments = url.slice(route.prefix.length, queryAt < 0 ? undefined : queryAt).split('/');
  if (segments.at(-1) === '' && segments.length > 1) segments.pop();
  const [slug = '', selector = 'latest', ...rest] = segments;
  const named = segments.length > 1;
  if (slug === '' || selector === '' || rest.length > 0) return undefined;
  return {
    slug: decode(slug),
    selector: decode(selector),
    named,
    bulk: route.bulk,
    explain: queryAt < 0 ? 'none' : readExplain(url.slice(queryAt + 1)),
  };
};

const decode = (segment: string): string => {
  if (segment.length > MAX_SEGMENT) {
    throw new ServiceError(
      'invalid_url',
      `A segment of the path has ${segment.length} characters; at most ${MAX_SEGMENT} are allowed.`,
    );
  }
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch (cause) {
    throw new ServiceError(
      'invalid_url',
      'The path holds a percent sign that does not begin a valid escape.',
      {},
      { cause },
    );
  }
};

/** The mode that a query asks for. Throws `invalid_request` for an unknown one. */
export const readExplain = (query: string): ExplainMode => {
  const text = new URLSearchParams(query).get('explain');
  if (text === null) return 'none';
  const mode = Object.hasOwn(EXPLAIN, text) ? EXPLAIN[text] : undefined;
  if (mode !== undefined) return mode;
  throw new ServiceError(
    'invalid_request',
    `The parameter "explain" must be one of: ${Object.keys(EXPLAIN).join(', ')}.`,
    {
      problems: [{ path: '/explain', message: `must be one of: ${Object.keys(EXPLAIN).join(', ')}` }],
    },
  );
};
