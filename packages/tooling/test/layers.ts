/**
 * The packages of this project that each package imports, from the lowest on: a package stands below those that import it. The architecture
 * test holds every package to its line, and docs/architecture.md shows these lines as a table and a picture.
 */
export const LAYERS: Readonly<Record<string, readonly string[]>> = {
  'packages/values': [],
  'packages/contracts': [],
  'packages/expressions': ['values'],
  'packages/local-stack': [],
  'packages/engine': ['contracts', 'expressions', 'values'],
  'packages/contexts': ['contracts', 'expressions', 'values'],
  'packages/broker': ['contracts'],
  'packages/cache': ['contracts'],
  'packages/persistence': ['contracts'],
  'packages/service-kit': ['contracts'],
  'packages/execution': ['cache', 'contexts', 'contracts', 'engine', 'persistence'],
  'packages/infrastructure': ['broker', 'cache', 'contracts', 'execution', 'persistence', 'service-kit'],
  'packages/launcher': ['broker', 'contracts', 'local-stack', 'persistence', 'service-kit'],
  'services/objects-api': [
    ...['cache', 'contexts', 'contracts', 'engine', 'infrastructure', 'persistence', 'service-kit'],
  ],
  'services/contexts-api': [
    ...['broker', 'cache', 'contexts', 'contracts', 'execution', 'infrastructure', 'persistence', 'service-kit'],
  ],
  'services/hps-gateway': ['broker', 'cache', 'contracts', 'infrastructure', 'persistence', 'service-kit'],
  'services/solve-worker': ['broker', 'cache', 'contracts', 'engine', 'execution', 'infrastructure', 'service-kit'],
};

/** Packages that answer the same for the same arguments: no network, disk, clock, randomness or process. */
export const PURE: readonly string[] = [
  'packages/contexts',
  'packages/contracts',
  'packages/engine',
  'packages/expressions',
  'packages/values',
];
