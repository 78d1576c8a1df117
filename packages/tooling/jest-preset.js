'use strict';

// Random cases of tests follow from one seed, the same in every run, so that a failure can be repeated. TEST_SEED chooses another.
process.env.TEST_SEED ??= '20260101';

/**
 * The one jest preset. Packages are resolved by their `source` condition, so a test always runs against the sources beside
 * it and never against a stale build.
 */
module.exports = {
  testEnvironment: require.resolve('./jest/environment.js'),
  testEnvironmentOptions: { customExportConditions: ['source', 'node', 'require', 'default'] },
  // The sandbox of jest looks up each global through an interceptor, at about a microsecond: two thirds of the time of tests that compute. These are given
  // to each module as parameters instead, so a module cannot declare one of these names at its top level (`const Map`). No test replaces one of them, as fake timers replace Date.
  sandboxInjectedGlobals: [
    ...['Array', 'BigInt', 'Infinity', 'JSON', 'Map', 'Math', 'Number', 'Object'],
    ...['Reflect', 'Set', 'String', 'Symbol', 'WeakMap'],
  ],
  testMatch: ['<rootDir>/src/**/*.test.ts', '<rootDir>/test/**/*.test.ts'],
  moduleNameMapper: {
    '^fast-check$': require.resolve('./jest/seeded-fast-check.js'),
    '^fast-check/unseeded$': require.resolve('fast-check'),
  },
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  transform: {
    '^.+\\.[cm]?[jt]s$': [
      require.resolve('@swc/jest'),
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
        module: { type: 'commonjs' },
        sourceMaps: 'inline',
      },
    ],
  },
  transformIgnorePatterns: [
    // Packages of ES modules alone, and one that imports a part of itself when it is first used.
    '/node_modules/(?!(?:\\.pnpm/[^/]+/node_modules/)?(?:@opentelemetry/otlp-exporter-base|jose|oauth4webapi|openid-client|p-limit|yocto-queue)/)',
  ],
  setupFilesAfterEnv: [require.resolve('./jest/fail-on-leaks.js')],
  reporters: ['default', [require.resolve('./jest/count-reporter.js'), {}]],
  // Far above the milliseconds of an idle machine: only a test that hangs fails by it, not one that a busy machine delays.
  testTimeout: 120_000,
};
