/** Paths that nobody needs a token for. */
const ALWAYS_EXEMPT: ReadonlySet<string> = new Set([
  '/api/health',
  '/api/metrics',
  '/auth/denied',
  '/api/self-hosted-branding',
]);

/** What a server behind could take for another path than it is: encoded dots, slashes, backslashes and percent signs, and bare ones. */
const DOUBTFUL = /%(?:2e|2f|5c|25|00|3b)|\\|;|\/\/|\/\.{1,2}(?:\/|$)|[\0-\x20\x7f#]/i;

/**
 * Whether a path passes without a token. `path` is the one that arrived, undecoded and without its query. A prefix stands for whole segments, and a path
 * that could be read in two ways is never exempt.
 */
export const isExempt = (path: string, publicPaths: readonly string[]): boolean => {
  if (!path.startsWith('/') || DOUBTFUL.test(path)) return false;
  return ALWAYS_EXEMPT.has(path) || publicPaths.some((prefix) => isWithin(path, prefix.replace(/\/+$/, '')));
};

const isWithin = (path: string, prefix: string): boolean =>
  prefix !== '' && (path === prefix || path.startsWith(`${prefix}/`));
