import { setImmediate } from 'node:timers/promises';
import { type AssetKind, ServiceError, testPolicies, type TestPolicy, type TestState } from '@decision/contracts';
import { collectReferences, type CompiledRule, compileRule, evaluateRule } from '@decision/engine';
import {
  findBoundValues,
  type RuleRecord,
  saveTestResults,
  type TestResult,
  type Transaction,
} from '@decision/persistence';

type JsonObject = Readonly<Record<string, unknown>>;

/** A test as a draft holds it, in full. */
export interface StoredTest {
  readonly id: string;
  readonly name: string;
  readonly request: JsonObject;
  readonly response: JsonObject;
  readonly policy: TestPolicy;
  readonly critical: boolean;
}

/** Reads the test suite of a draft. Imports may hold anything: missing parts get their default, parts that are not objects are empty. */
export const readTests = (suite: readonly JsonObject[]): readonly StoredTest[] =>
  suite.map((entry, index) => ({
    id: typeof entry['id'] === 'string' ? entry['id'] : `test-${index + 1}`,
    name: typeof entry['name'] === 'string' ? entry['name'] : `Test ${index + 1}`,
    request: objectOf(entry['request']),
    response: objectOf(entry['response']),
    policy: testPolicies.find((policy) => policy === entry['policy']) ?? 'contains',
    critical: entry['critical'] === true,
  }));

export const objectOf = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};

/** Gives an id to every test of an import that has none. */
export const withTestIds = (suite: readonly JsonObject[], newId: () => string): Record<string, unknown>[] => {
  const taken = new Set<unknown>();
  return suite.map((entry) => {
    const { id } = entry;
    const kept = typeof id === 'string' && id !== '' && !taken.has(id);
    const known = kept ? id : newId();
    taken.add(known);
    return kept ? { ...entry } : { ...entry, id: known };
  });
};

/** The setting under which a rule is tested before it is published. */
const CONTINUOUS = 'continuous';

/** Dependencies of running tests. */
export interface TestClock {
  /** Epoch ms. */
  readonly now: () => number;
}

/**
 * Runs the tests of a draft (decision 13) with the values that it refers to, including those that the caller may not see, and stores their
 * results. Throws `rule_invalid` if a value has changed so that the draft cannot be executed, and `deadline_exceeded`.
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
  return saveOutcomes(transaction, rule.id, startedAt, await runSuite(compiled, tests, clock));
};

/** Stores the results of tests of a rule or flow, and answers them. */
export const saveOutcomes = async <T extends StoredTest>(
  transaction: Transaction,
  assetId: string,
  startedAt: number,
  outcomes: readonly TestOutcome<T>[],
): Promise<readonly TestOutcome<T>[]> => {
  const executedAt = new Date(startedAt).toISOString();
  await saveTestResults(transaction, assetId, outcomes.map((outcome) => toResult(outcome, executedAt))); // prettier-ignore
  return outcomes;
};

/** If a rule must pass its tests before it is published, throws `tests_failed` with the names of the critical tests that fail. */
export const requireTested = async (transaction: Transaction, clock: TestClock, rule: RuleRecord): Promise<void> =>
  requirePassed('rule', rule, () => testDraft(transaction, clock, rule, true));

/** {@link requireTested} for rules and flows; `test` runs the critical tests. */
export const requirePassed = async (
  kind: AssetKind,
  { slug, settings }: { readonly slug: string; readonly settings: { readonly testing?: string | null | undefined } },
  test: () => Promise<readonly TestOutcome[]>,
): Promise<void> => {
  if (settings.testing !== CONTINUOUS) return;
  const outcomes = await test();
  const failed = outcomes.filter(({ success }) => !success).map(({ test: { name } }) => name);
  if (failed.length === 0) return;
  throw new ServiceError(
    'tests_failed',
    `The ${kind} "${slug}" cannot be published: of ${outcomes.length} critical tests ${failed.length} failed (${shorten(failed)}).`,
    { failed_tests: failed, critical_failed_tests: failed },
  );
};

const SHOWN = 5;
const shorten = (names: readonly string[]): string =>
  names.length <= SHOWN ? names.join(', ') : `${names.slice(0, SHOWN).join(', ')} and ${names.length - SHOWN} more`;

/** Whether the output of a rule is as a test expects. Both are JSON; -0 equals 0. */
export const isAsExpected = (policy: TestPolicy, expected: unknown, output: unknown): boolean => {
  switch (policy) {
    case 'contains':
      return standsIn(expected, output);
    case 'matches':
      return covers(expected, output, true);
    case 'excludes':
      return !standsIn(expected, output);
  }
};

/** Whether the output itself or anything within it covers a fragment. */
const standsIn = (fragment: unknown, output: unknown): boolean =>
  covers(fragment, output, false) ||
  (isComposite(output) && Object.values(output).some((part) => standsIn(fragment, part)));

/**
 * Whether a value has every part of a fragment: for an object its fields, for a list an entry for each of its entries, in any order. With
 * `whole`: nothing else, and lists in order. Each part of one is compared with each part of the other at most once.
 */
const covers = (fragment: unknown, value: unknown, whole: boolean): boolean => {
  if (!isComposite(fragment) || !isComposite(value)) return fragment === value;
  if (Array.isArray(fragment) || Array.isArray(value)) {
    return Array.isArray(fragment) && Array.isArray(value) && coversList(fragment, value, whole);
  }
  const keys = Object.keys(fragment);
  if (whole && keys.length !== Object.keys(value).length) return false;
  return keys.every((key) => Object.hasOwn(value, key) && covers(fieldOf(fragment, key), fieldOf(value, key), whole));
};

const coversList = (fragment: readonly unknown[], list: readonly unknown[], whole: boolean): boolean =>
  whole
    ? fragment.length === list.length && fragment.every((entry, index) => covers(entry, list[index], true))
    : fragment.every((entry) => list.some((candidate) => covers(entry, candidate, false)));

const isComposite = (value: unknown): value is object => typeof value === 'object' && value !== null;

const fieldOf = (value: object, key: string): unknown => (value as Readonly<Record<string, unknown>>)[key]; // any object, by its own key

/** The outcome of one test. */
export interface TestOutcome<T extends StoredTest = StoredTest> {
  readonly test: T;
  readonly success: boolean;
  /** Ms. */
  readonly duration: number;
  readonly outcome: Tested;
}

/** The answer of a rule or flow to a test; `matched` are the rows of a rule. */
export type Tested =
  | { readonly ok: true; readonly output: JsonObject; readonly matched: readonly number[] }
  | { readonly ok: false; readonly error: { readonly message: string } };

interface RunSuiteOptions {
  /** Epoch ms: the same clock for all tests. */
  readonly now: number;
  /** Ms since an arbitrary moment, to measure durations. */
  readonly elapsed: () => number;
  /** Lets other work of the process run. */
  readonly pause: () => Promise<void>;
}

/** How long tests run before other work of the process has its turn, ms. */
export const SLICE_MS = 10;
/** How long a run may take, ms. It happens inside a transaction, which the database ends after 30 s without a statement. */
export const DEADLINE_MS = 20_000;

/** Runs tests one after the other, in slices. A rule that cannot be evaluated fails its test. Throws `deadline_exceeded`. */
export const runSuite = (
  rule: CompiledRule,
  tests: readonly StoredTest[],
  options: RunSuiteOptions,
): Promise<readonly TestOutcome[]> =>
  runEach(tests, options, ({ request }) => evaluateRule(rule, request, { now: options.now }));

/** {@link runSuite} for any evaluation of tests. */
export const runEach = async <T extends StoredTest>(
  tests: readonly T[],
  { elapsed, pause }: Pick<RunSuiteOptions, 'elapsed' | 'pause'>,
  evaluate: (test: T) => Tested | Promise<Tested>,
): Promise<readonly TestOutcome<T>[]> => {
  const outcomes: TestOutcome<T>[] = [];
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
    const answer = evaluate(test);
    const outcome = answer instanceof Promise ? await answer : answer;
    const success = outcome.ok && isAsExpected(test.policy, test.response, outcome.output);
    outcomes.push({ test, success, duration: elapsed() - began, outcome });
  }
  return outcomes;
};

export const tooSlow = (done: number, total: number): ServiceError =>
  new ServiceError(
    'deadline_exceeded',
    `Only ${done} of ${total} tests were done within ${DEADLINE_MS / 1000} seconds; make them fewer or what they test simpler.`,
    { done, total },
  );

/** The stored result of a run. */
const toResult = ({ test, success, duration, outcome }: TestOutcome, executedAt: string): TestResult => {
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
