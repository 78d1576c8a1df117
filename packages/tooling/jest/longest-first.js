'use strict';

const { sep } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');

/** Files that take longest, from the longest on, as a run on two cores showed: begun last, one of them would keep the other worker waiting. */
const LONGEST = [
  'tests-e2e/test/servers/broker-cluster.test.ts',
  'tests-e2e/test/servers/images.test.ts',
  'tests-e2e/test/contexts/entity-deaths.test.ts',
  'tests-e2e/test/contexts/context-servers.test.ts',
  'tests-e2e/test/servers/backup.test.ts',
  'tests-e2e/test/solving/gateways.test.ts',
  'packages/decision-archive/test/archiver.test.ts',
  'packages/broker/test/broker-faults.test.ts',
  'tests-e2e/test/servers/rolling-restarts.test.ts',
  'tests-e2e/test/servers/killed-servers.test.ts',
  'tests-e2e/test/decision-logs/log-servers.test.ts',
  'tests-e2e/test/servers/upgrade.test.ts',
  'packages/broker/test/rebalance.test.ts',
  'tests-e2e/test/contexts/context-deaths.test.ts',
  'tests-e2e/test/solving/nonces.test.ts',
  'services/log-collector/test/archive-agrees.test.ts',
  'packages/broker/test/several-brokers.test.ts',
  'tests-e2e/test/solving/bulk.test.ts',
  'tests-e2e/test/solving/cache.test.ts',
  'tests-e2e/test/servers/faults.test.ts',
  'tests-e2e/test/solving/releases.test.ts',
  'tests-e2e/test/contexts/histories.test.ts',
  'services/objects-api/test/visibility/visibility-matrix.test.ts',
  'packages/infrastructure/test/evaluation-threads.test.ts',
  'tests-e2e/test/operating/traces.test.ts',
  'services/log-collector/test/export-parquet.test.ts',
  'services/objects-api/test/values/value-sync.test.ts',
  'packages/execution/src/operations/settle-operations.test.ts',
  'packages/decision-archive/test/upkeep.test.ts',
  'packages/persistence/test/contexts/context-removal.test.ts',
  'services/log-collector/test/collecting.test.ts',
  'tests-e2e/test/decision-logs/log-archive-faults.test.ts',
  'packages/broker/test/worker-death.test.ts',
  'tests-e2e/test/decision-logs/decision-deaths.test.ts',
  'services/contexts-api/test/batches/batch-lines.test.ts',
  'tests-e2e/test/contexts/context-lost-answers.test.ts',
  'packages/broker/test/security.test.ts',
  'services/objects-api/test/values/value-sync-killed.test.ts',
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
