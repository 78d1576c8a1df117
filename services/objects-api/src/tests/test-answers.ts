import { type RuleTest, type RuleTestRun, type TestState } from '@decision/contracts';
import { type TestResult } from '@decision/persistence';
import { type StoredTest } from './read-tests';
import { type TestOutcome } from './run-suite';

/** A test with how it last went, where it has run. */
export const toTest = (test: StoredTest, result: TestResult | undefined): RuleTest => ({
  ...test,
  ...(result === undefined
    ? {}
    : {
        success: result.success,
        error: result.error,
        test_state: result.state as TestState, // as toResult made it
        last_executed: result.executedAt,
      }),
});

/** The stored result of a run. */
export const toResult = ({ test, success, duration, outcome }: TestOutcome, executedAt: string): TestResult => {
  const state: TestState = {
    duration,
    response: outcome.ok ? { ...outcome.output } : {},
    conditions: [],
    http_status: outcome.ok ? 200 : 422,
    success_idxs: outcome.ok ? [...outcome.matched] : [],
    evaluation_error: outcome.ok ? false : outcome.error.message,
  };
  return { testId: test.id, success, error: !outcome.ok, state, executedAt };
};

/** The answer to a run. */
export const toRun = (rule: string, outcomes: readonly TestOutcome[]): RuleTestRun => {
  const failed = outcomes.filter(({ success }) => !success);
  const critical = failed.filter(({ test }) => test.critical);
  const passed = outcomes.length - failed.length;
  return {
    rule,
    total: outcomes.length,
    passed,
    failed: failed.length,
    pass_percentage: percentage(passed, outcomes.length),
    critical_failure: critical.length > 0,
    failed_tests: failed.map(({ test }) => test.name),
    critical_failed_tests: critical.map(({ test }) => test.name),
    results: outcomes.map((entry) => ({ ...nameOf(entry), success: entry.success, error: !entry.outcome.ok })),
    failures: failed.map((entry) => ({ ...nameOf(entry), ...failureOf(entry) })),
  };
};

/** Rounded down, so that 100.00 means all. */
const percentage = (passed: number, total: number): string =>
  total === 0 ? '100.00' : (Math.floor((passed / total) * 10_000) / 100).toFixed(2);

const nameOf = ({ test: { id, name, policy, critical } }: TestOutcome) => ({ id, name, policy, critical });

const failureOf = ({ test, outcome }: TestOutcome) =>
  outcome.ok
    ? { expected: test.response, actual: outcome.output, matched_rows: [...outcome.matched] }
    : { expected: test.response, actual: null, matched_rows: [], error_message: outcome.error.message };
