/**
 * The packages of this project that each package imports, from the lowest on: a package stands below those that import it. The architecture
 * test holds every package to its line, and docs/architecture.md shows these lines as a table and a picture.
 */
export const LAYERS: Readonly<Record<string, readonly string[]>> = {
  'packages/values': [],
  'packages/waiting': [],
  'packages/tracing': [],
  'packages/sandbox': [],
  'packages/contracts': [],
  'packages/decision-logs': ['contracts'],
  'packages/expressions': ['values'],
  'packages/local-stack': ['waiting'],
  'packages/engine': ['contracts', 'expressions', 'values'],
  'packages/flows': ['contracts', 'engine', 'values'],
  'packages/contexts': ['contracts', 'expressions', 'values'],
  'packages/broker': ['contracts', 'tracing', 'waiting'],
  'packages/cache': ['contracts', 'tracing', 'waiting'],
  'packages/decision-sinks': ['broker', 'contracts', 'decision-logs', 'waiting'],
  'packages/decision-archive': ['broker', 'decision-logs', 'waiting'],
  'packages/persistence': ['contracts', 'decision-logs', 'tracing', 'waiting'],
  'packages/sessions': ['contracts'],
  'packages/service-kit': ['contracts', 'tracing', 'waiting'],
  'packages/mail': ['service-kit'],
  'packages/connectors': ['cache', 'contracts', 'flows', 'mail', 'sandbox', 'service-kit', 'values', 'waiting'],
  'packages/execution': ['cache', 'contexts', 'contracts', 'engine', 'flows', 'persistence', 'waiting'],
  'packages/operations': [
    ...['broker', 'connectors', 'contexts', 'contracts', 'execution', 'flows', 'persistence', 'service-kit', 'waiting'],
  ],
  'packages/infrastructure': [
    ...['broker', 'cache', 'contracts', 'execution', 'mail', 'persistence', 'service-kit', 'sessions', 'waiting'],
  ],
  'packages/launcher': ['broker', 'contracts', 'local-stack', 'persistence', 'service-kit', 'sessions', 'waiting'],
  'services/objects-api': [
    ...[
      'cache',
      'connectors',
      'contexts',
      'contracts',
      'engine',
      'execution',
      'flows',
      'infrastructure',
      'mail',
      'persistence',
      'sandbox',
      'service-kit',
    ],
  ],
  'services/contexts-api': [
    ...[
      'broker',
      'cache',
      'connectors',
      'contexts',
      'contracts',
      'execution',
      'infrastructure',
      'operations',
      'persistence',
      'service-kit',
    ],
  ],
  'services/auth-proxy-adapter': [
    ...['cache', 'contracts', 'infrastructure', 'mail', 'persistence', 'service-kit', 'sessions', 'waiting'],
  ],
  'services/hps-gateway': [
    ...['broker', 'cache', 'contracts', 'execution', 'infrastructure', 'persistence', 'service-kit', 'waiting'],
  ],
  'services/solve-worker': [
    ...['broker', 'cache', 'connectors', 'contracts', 'engine', 'execution', 'flows', 'infrastructure'],
    ...['operations', 'service-kit'],
  ],
  'services/log-collector': [
    'broker',
    'contracts',
    'decision-archive',
    'decision-logs',
    'decision-sinks',
    'infrastructure',
    'persistence',
    'service-kit',
    'waiting',
  ],
};

/** Packages that answer the same for the same arguments: no network, disk, clock, randomness or process. */
export const PURE: readonly string[] = [
  'packages/contexts',
  'packages/contracts',
  'packages/decision-logs',
  'packages/engine',
  'packages/expressions',
  'packages/flows',
  'packages/values',
];
