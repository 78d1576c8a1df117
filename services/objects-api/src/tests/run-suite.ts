import { ServiceError } from '@decision/contracts';
import { type CompiledRule, evaluateRule, type RuleOutcome } from '@decision/engine';
import { isAsExpected } from './policies';
import { type StoredTest } from './read-tests';

/** How one test went. */
export interface TestOutcome {
  readonly test: StoredTest;
  readonly success: boolean;
  /** Ms. */
  readonly duration: number;
  readonly outcome: RuleOutcome;
}

interface RunSuiteOptions {
  /** Epoch ms: the one clock of all tests. */
  readonly now: number;
  /** Ms since any moment; measures. */
  readonly elapsed: () => number;
  /** Lets other work of the process run. */
  readonly pause: () => Promise<void>;
}

/** How long tests run before other work of the process has its turn, ms. */
const SLICE_MS = 10;
/** How long a run may take, ms. It happens inside a transaction, which the database ends after 30 s without a statement. */
const DEADLINE_MS = 20_000;

/** Runs tests one after the other, in slices. A rule that cannot be evaluated fails its test. Throws `deadline_exceeded`. */
export const runSuite = async (
  rule: CompiledRule,
  tests: readonly StoredTest[],
  { now, elapsed, pause }: RunSuiteOptions,
): Promise<readonly TestOutcome[]> => {
  const outcomes: TestOutcome[] = [];
  const start = elapsed();
  let sliceStart = start;
  for (const test of tests) {
    const before = elapsed();
    if (before - start > DEADLINE_MS) throw tooSlow(outcomes.length, tests.length);
    if (before - sliceStart > SLICE_MS) {
      await pause();
      sliceStart = elapsed();
    }
    const began = elapsed();
    const outcome = evaluateRule(rule, test.request, { now });
    const success = outcome.ok && isAsExpected(test.policy, test.response, outcome.output);
    outcomes.push({ test, success, duration: elapsed() - began, outcome });
  }
  return outcomes;
};

const tooSlow = (done: number, total: number): ServiceError =>
  new ServiceError(
    'deadline_exceeded',
    `Only ${done} of ${total} tests were done within ${DEADLINE_MS / 1000} seconds; make them fewer or the rule simpler.`,
    { done, total },
  );
