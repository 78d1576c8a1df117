'use strict';

const { sep } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');

/** Files that take longest, from the longest on, as a run on two cores showed: begun last, one of them would keep the other worker waiting. */
const LONGEST = [
  'tests-e2e/test/faults.test.ts',
  'tests-e2e/test/cache.test.ts',
  'tests-e2e/test/killed-servers.test.ts',
  'tests-e2e/test/context-deaths.test.ts',
  'tests-e2e/test/nonces.test.ts',
  'tests-e2e/test/context-servers.test.ts',
  'tests-e2e/test/gateways.test.ts',
  'tests-e2e/test/rolling-restarts.test.ts',
  'tests-e2e/test/backup.test.ts',
  'packages/broker/test/broker-faults.test.ts',
  'packages/broker/test/worker-death.test.ts',
  'packages/broker/test/several-brokers.test.ts',
  'packages/broker/test/rebalance.test.ts',
  'packages/engine/test/hostile-costs.test.ts',
  'tests-e2e/test/releases.test.ts',
  'packages/engine/test/index-agrees-with-scan.test.ts',
  'tests-e2e/test/authorisation.test.ts',
  'tests-e2e/test/histories.test.ts',
  'tests-e2e/test/bulk.test.ts',
  'packages/engine/test/hostile-evaluations.test.ts',
  'packages/engine/test/index-extremes.test.ts',
  'services/solve-worker/test/long-evaluation.test.ts',
  'packages/broker/test/security.test.ts',
  'tests-e2e/test/context-lost-answers.test.ts',
  'packages/local-stack/test/test-stack-program.test.ts',
  'services/objects-api/test/value-sync-killed.test.ts',
];

const rankOf = ({ path }) => {
  const at = LONGEST.findIndex((end) => path.endsWith(end.split('/').join(sep)));
  return at < 0 ? LONGEST.length : at;
};

/** Tests with those of the longest files first; all others stay as they are. */
const longestFirst = (tests) => [...tests].sort((a, b) => rankOf(a) - rankOf(b));

/** Begins with the files that are known to be long; the others follow in the order of jest, by the durations and sizes that it knows. */
module.exports = class extends Sequencer {
  sort(tests) {
    return longestFirst(super.sort(tests));
  }
};
Object.assign(module.exports, { LONGEST, longestFirst });
