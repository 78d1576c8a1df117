/** Paths that need no token. */
const ALWAYS_EXEMPT: ReadonlySet<string> = new Set([
  '/api/health',
  '/api/metrics',
  '/auth/denied',
  '/api/self-hosted-branding',
]);

/**
 * Sequences that a server behind could interpret as another path: encoded dots, slashes, backslashes and percent signs, and literal ones.
 */
const DOUBTFUL = /%(?:2e|2f|5c|25|00|3b)|\\|;|\/\/|\/\.{1,2}(?:\/|$)|[\0-\x20\x7f#]/i;

/**
 * Whether a path passes without a token. `path` is the received one, undecoded and without its query. A prefix matches whole segments, and
 * an ambiguous path is never exempt.
 */
export const isExempt = (path: string, publicPaths: readonly string[]): boolean => {
  if (!path.startsWith('/') || DOUBTFUL.test(path)) return false;
  return ALWAYS_EXEMPT.has(path) || publicPaths.some((prefix) => isWithin(path, prefix.replace(/\/+$/, '')));
};

const isWithin = (path: string, prefix: string): boolean =>
  prefix !== '' && (path === prefix || path.startsWith(`${prefix}/`));
