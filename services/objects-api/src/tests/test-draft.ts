import { setImmediate } from 'node:timers/promises';
import { ServiceError } from '@decision/contracts';
import { collectReferences, compileRule } from '@decision/engine';
import { findBoundValues, type RuleRecord, saveTestResults, type Transaction } from '@decision/persistence';
import { readTests } from './read-tests';
import { runSuite, type TestOutcome } from './run-suite';
import { toResult } from './test-answers';

/** The setting under which a rule is tested before it is published. */
const CONTINUOUS = 'continuous';

/** Dependencies of running tests. */
interface TestClock {
  /** Epoch ms. */
  readonly now: () => number;
}

/**
 * Runs the tests of a draft with the values to which it refers, also those that the caller may not see, and keeps their results. Throws
 * `rule_invalid` where a value has changed so that the draft cannot be executed, and `deadline_exceeded`.
 */
export const testDraft = async (
  transaction: Transaction,
  { now }: TestClock,
  rule: RuleRecord,
  criticalOnly: boolean,
): Promise<readonly TestOutcome[]> => {
  const tests = readTests(rule.testSuite).filter(({ critical }) => critical || !criticalOnly);
  if (tests.length === 0) return [];
  const values = await findBoundValues(transaction, collectReferences(rule).ids);
  const byId = new Map(values.map(({ id, name, type, content }) => [id, { id, name, type, value: content }]));
  const compiled = compileRule(rule, { values: { revision: 0, get: (id) => byId.get(id) } });
  const startedAt = now();
  const clock = { now: startedAt, elapsed: () => performance.now(), pause: () => setImmediate() };
  const outcomes = await runSuite(compiled, tests, clock);
  const executedAt = new Date(startedAt).toISOString();
  await saveTestResults(transaction, rule.id, outcomes.map((outcome) => toResult(outcome, executedAt))); // prettier-ignore
  return outcomes;
};

/** If a rule must pass its tests before it is published, throws `tests_failed` with the names of the critical tests that fail. */
export const requireTested = async (transaction: Transaction, clock: TestClock, rule: RuleRecord): Promise<void> => {
  if (rule.settings.testing !== CONTINUOUS) return;
  const outcomes = await testDraft(transaction, clock, rule, true);
  const failed = outcomes.filter(({ success }) => !success).map(({ test }) => test.name);
  if (failed.length === 0) return;
  throw new ServiceError(
    'tests_failed',
    `The rule "${rule.slug}" cannot be published: of ${outcomes.length} critical tests ${failed.length} failed (${shorten(failed)}).`,
    { failed_tests: failed, critical_failed_tests: failed },
  );
};

const SHOWN = 5;
const shorten = (names: readonly string[]): string =>
  names.length <= SHOWN ? names.join(', ') : `${names.slice(0, SHOWN).join(', ')} and ${names.length - SHOWN} more`;
