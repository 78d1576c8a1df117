import { testStack } from '@decision/local-stack';
import { describeReport, isSerial } from '../../src/histories/describe-report';
import { DATABASE_FAULTS, SERVICE_FAULTS } from '../../src/histories/faults';
import { startWatchedFleet, type WatchedFleet } from '../../src/histories/watched-fleet';
import { watchHistories, type WatchOptions } from '../../src/histories/watch-histories';

/** The seed of the run. */
const SEED = Number(process.env['TEST_SEED']);

let fleet: WatchedFleet;

beforeAll(async () => {
  const stack = testStack();
  fleet = await startWatchedFleet({ addresses: stack, name: stack.uniqueName('histories'), hasProxy: true });
}, 360_000);
afterAll(() => fleet.stop(), 90_000);

const watch = (options: Pick<WatchOptions, 'fleet' | 'faults' | 'instancePrefix' | 'durationMs'>) =>
  watchHistories({ seed: SEED, clients: 12, instances: 6, ...options });

it('I1, I2, I3: whatever is killed and paused, a serial order explains what clients were answered', async () => {
  const faults = [...DATABASE_FAULTS, ...SERVICE_FAULTS];
  const report = await watch({ fleet, faults, instancePrefix: 'sound', durationMs: 18_000 });
  expect(isSerial(report) ? 'serial' : `seed ${SEED}\n${describeReport(report)}`).toBe('serial');
  const operations = report.histories.flatMap(({ history }) => history.operations);
  const answered = operations.filter(({ outcome }) => outcome.type === 'seen');
  expect(answered.length).toBeGreaterThan(6 * 3); // more than the last ones
  expect(operations.filter(({ name }) => name.startsWith('sent ')).length).toBeGreaterThan(0); // written by nodes of flows
  expect(report.faults['delay write-backs']).toBeGreaterThan(0);
  expect(report.faults['pause contexts-api']).toBeGreaterThan(0);
}, 270_000);
