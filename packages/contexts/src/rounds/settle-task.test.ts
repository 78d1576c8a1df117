import { type ExecutionStatus } from '@decision/contracts';
import { type AssetRun, outcomeOf, type Settled } from './settle-task';

const run = (status: ExecutionStatus, unavailable = false): AssetRun => ({
  type: 'rule',
  slug: 'r',
  status,
  unavailable,
});
const settled = (runs: readonly AssetRun[], anyReady = true): Settled => ({
  facts: {},
  executions: {},
  runs,
  ended: 'fixpoint',
  unfinished: [],
  degraded: undefined,
  anyReady,
});
const usual = { hasAssets: true, autoExecute: true, hasRegistered: false };

it.each<[ExecutionStatus]>([['success'], ['evaluation_error'], ['infrastructure_error']])(
  'C80: %s triggers',
  (status) => {
    expect(outcomeOf(settled([run('skipped_already_run'), run(status)]), usual)).toEqual({ triggered: true });
  },
);

it.each([
  ['no_bound_assets', settled([]), { ...usual, hasAssets: false, autoExecute: false }],
  ['auto_execute_disabled', settled([], false), { ...usual, autoExecute: false }],
  ['not_ready', settled([], false), { ...usual, autoExecute: false, hasRegistered: true }],
  ['execution_unavailable', settled([run('infrastructure_error', true), run('skipped_in_progress')]), usual],
  ['execution_in_progress', settled([run('skipped_in_progress'), run('skipped_already_run')]), usual],
  ['inputs_unchanged', settled([run('skipped_already_run')]), usual],
  ['not_ready', settled([], false), usual],
] as const)('C81: %s', (reason, outcome, surroundings) => {
  expect(outcomeOf(outcome, surroundings)).toEqual({ triggered: false, reason });
});
