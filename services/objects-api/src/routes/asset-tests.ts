import {
  type AssetKind,
  createFlowTest,
  createRuleTest,
  type CreateRuleTestRequest,
  deleteFlowTest,
  deleteRuleTest,
  type FlowTest,
  listFlowTests,
  listRuleTests,
  type RuleTestRun,
  runFlowTests,
  runRuleTests,
  ServiceError,
  type TestState,
} from '@decision/contracts';
import { accessOf } from '@decision/infrastructure';
import {
  type Database,
  deleteTestResult,
  findAsset,
  findTestResults,
  findTestSuite,
  findTestSuiteForChange,
  saveTestSuite,
  type TestResult,
  type WorkspaceAccess,
} from '@decision/persistence';
import { bindOperation, type BoundOperation } from '@decision/service-kit';
import { assetNotFound } from '../assets/asset-errors';
import { type FlowStoredTest, readFlowTests, testFlow } from '../flows/test-flow';
import { type LiveCalls } from '../tests/live-calls';
import { readTests, testDraft, type TestOutcome } from '../tests/run-suite';

/** The calls under /api/v1/admin/rules/{slug}/tests. */
export const ruleTestRoutes = (context: TestContext): readonly BoundOperation[] => [
  bindOperation(listRuleTests, ({ identity, params }) =>
    listTests(context, accessOf(identity), 'rule', params['slug'] ?? ''),
  ),
  bindOperation(createRuleTest, ({ identity, params, body }) =>
    createTest(context, accessOf(identity), 'rule', params['slug'] ?? '', body),
  ),
  bindOperation(deleteRuleTest, ({ identity, params }) =>
    deleteTest(context, accessOf(identity), 'rule', params['slug'] ?? '', params['test_id'] ?? ''),
  ),
  bindOperation(runRuleTests, ({ identity, params, body }) =>
    runTests(context, accessOf(identity), params['slug'] ?? '', body.critical_only ?? false),
  ),
];

/** The calls under /api/v1/admin/flows/{slug}/tests. */
export const flowTestRoutes = (context: FlowTestContext): readonly BoundOperation[] => [
  bindOperation(listFlowTests, ({ identity, params }) =>
    listTests(context, accessOf(identity), 'flow', params['slug'] ?? ''),
  ),
  bindOperation(createFlowTest, ({ identity, params, body }) =>
    createTest(context, accessOf(identity), 'flow', params['slug'] ?? '', body),
  ),
  bindOperation(deleteFlowTest, ({ identity, params }) =>
    deleteTest(context, accessOf(identity), 'flow', params['slug'] ?? '', params['test_id'] ?? ''),
  ),
  bindOperation(runFlowTests, ({ identity, params, body }) =>
    runFlowSuite(context, accessOf(identity), params['slug'] ?? '', body.critical_only ?? false),
  ),
];

/** Dependencies of the calls on tests. */
interface TestContext {
  readonly database: Database;
  readonly newId: () => string;
  /** Epoch ms. */
  readonly now: () => number;
}

interface FlowTestContext extends TestContext {
  /** Makes outside calls for live tests. */
  readonly live: LiveCalls;
}

/** Maximum number of tests of a rule or flow. */
const MAX_TESTS = 10_000;

/** Throws `rule_not_found` or `flow_not_found`. */
export const listTests = (
  { database }: TestContext,
  access: WorkspaceAccess,
  kind: AssetKind,
  slug: string,
): Promise<FlowTest[]> =>
  database.inWorkspace(access, async (transaction) => {
    const suite = await findTestSuite(transaction, kind, slug);
    if (suite === undefined) throw assetNotFound(kind, { slug });
    const results = await findTestResults(transaction, suite.assetId);
    return testsOf(kind)(suite.tests).map((test) => toTest(test, results.get(test.id)));
  });

/** Adds a test to the draft; if one of the same id exists, answers it unchanged. Throws `rule_not_found` or `too_many_tests`. */
const createTest = (
  { database, newId }: TestContext,
  access: WorkspaceAccess,
  kind: AssetKind,
  slug: string,
  { id = newId(), name, request, response, policy = 'contains', critical, mocks, live }: NewTest,
): Promise<FlowTest> =>
  database.inWorkspace(access, async (transaction) => {
    const suite = await findTestSuiteForChange(transaction, kind, { slug });
    if (suite === undefined) throw assetNotFound(kind, { slug });
    const known = testsOf(kind)(suite.tests).find((test) => test.id === id);
    if (known !== undefined) return toTest(known, undefined);
    if (suite.tests.length >= MAX_TESTS)
      throw new ServiceError('too_many_tests', `A ${kind} has at most ${MAX_TESTS} tests; delete some first.`, {
        limit: MAX_TESTS,
      });
    const own = { ...(mocks === undefined ? {} : { mocks }), ...(live === true ? { live } : {}) };
    const test = { id, name, request, response, policy, critical, ...own };
    await saveTestSuite(transaction, { assetId: suite.assetId, tests: [...suite.tests, test] });
    return toTest(test, undefined);
  });

/** Removes a test from the draft. Throws `rule_not_found` or `test_not_found`. */
const deleteTest = (
  { database }: TestContext,
  access: WorkspaceAccess,
  kind: AssetKind,
  slug: string,
  id: string,
): Promise<FlowTest> =>
  database.inWorkspace(access, async (transaction) => {
    const suite = await findTestSuiteForChange(transaction, kind, { slug });
    if (suite === undefined) throw assetNotFound(kind, { slug });
    const at = testsOf(kind)(suite.tests).findIndex((test) => test.id === id);
    const deleted = testsOf(kind)(suite.tests)[at];
    if (deleted === undefined)
      throw new ServiceError('test_not_found', `The ${kind} "${slug}" has no test of the id "${id}".`, { id });
    await saveTestSuite(transaction, { assetId: suite.assetId, tests: suite.tests.filter((_, index) => index !== at) });
    await deleteTestResult(transaction, suite.assetId, id);
    return toTest(deleted, undefined);
  });

/** Runs the tests of a rule against its draft. Throws `rule_not_found`, `rule_invalid` or `deadline_exceeded`. */
export const runTests = (
  { database, now }: TestContext,
  access: WorkspaceAccess,
  slug: string,
  criticalOnly: boolean,
): Promise<RuleTestRun> =>
  database.inWorkspace(access, async (transaction) => {
    const rule = await findAsset(transaction, 'rule', { slug });
    if (rule === undefined) throw assetNotFound('rule', { slug });
    return { rule: slug, ...toRun(await testDraft(transaction, { now }, rule, criticalOnly)) };
  });

/** Runs the tests of a flow against its draft. Throws `flow_not_found`, `flow_invalid`, `rule_invalid`, `deadline_exceeded` or `overloaded`. */
const runFlowSuite = (
  { database, now, live }: FlowTestContext,
  access: WorkspaceAccess,
  slug: string,
  criticalOnly: boolean,
) =>
  database.inWorkspace(access, async (transaction) => {
    const flow = await findAsset(transaction, 'flow', { slug });
    if (flow === undefined) throw assetNotFound('flow', { slug });
    const tools = { now, live, access };
    return { flow: slug, ...toRun(await testFlow(transaction, tools, flow, criticalOnly)) };
  });

/** A test of a rule, or one of a flow. */
type NewTest = CreateRuleTestRequest & Pick<FlowTest, 'mocks' | 'live'>;

const testsOf = (
  kind: AssetKind,
): ((suite: readonly Readonly<Record<string, unknown>>[]) => readonly FlowStoredTest[]) =>
  kind === 'flow' ? readFlowTests : readTests;

/** A test with its last result, if it has run. */
const toTest = (test: FlowStoredTest, result: TestResult | undefined): FlowTest => ({
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

/** The answer to a test run. */
const toRun = (outcomes: readonly TestOutcome[]): Omit<RuleTestRun, 'rule'> => {
  const failed = outcomes.filter(({ success }) => !success);
  const critical = failed.filter(({ test }) => test.critical);
  const passed = outcomes.length - failed.length;
  return {
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
