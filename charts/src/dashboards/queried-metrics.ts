/** Metrics that a query asks about, without the endings of histograms. */
export const metricsOf = (expr: string): readonly string[] => [
  ...new Set(
    [
      ...expr.matchAll(/\b((?:decision|http|nodejs|process|usage)_[a-z0-9_]+?)(?:_bucket|_count|_sum)?\b(?=[{[ )])/g),
    ].map(([, name = '']) => name),
  ),
];
