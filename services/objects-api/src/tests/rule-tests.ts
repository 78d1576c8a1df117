import { type CreateRuleTestRequest, type RuleTest, type RuleTestRun, ServiceError } from '@decision/contracts';
import {
  type Database,
  deleteTestResult,
  findRule,
  findTestResults,
  findTestSuite,
  findTestSuiteForChange,
  saveTestSuite,
  type WorkspaceAccess,
} from '@decision/persistence';
import { ruleNotFound } from '../rule-errors';
import { readTests } from './read-tests';
import { toRun, toTest } from './test-answers';
import { testDraft } from './test-draft';

/** Dependencies of the calls on tests. */
export interface TestContext {
  readonly database: Database;
  readonly newId: () => string;
  /** Epoch ms. */
  readonly now: () => number;
}

/** Tests that a rule may have. */
const MAX_TESTS = 10_000;

/** Throws `rule_not_found`. */
export const listTests = ({ database }: TestContext, access: WorkspaceAccess, slug: string): Promise<RuleTest[]> =>
  database.inWorkspace(access, async (transaction) => {
    const suite = await findTestSuite(transaction, slug);
    if (suite === undefined) throw ruleNotFound({ slug });
    const results = await findTestResults(transaction, suite.ruleId);
    return readTests(suite.tests).map((test) => toTest(test, results.get(test.id)));
  });

/** Adds a test to the draft; one of the same id is answered as it is. Throws `rule_not_found` or `too_many_tests`. */
export const createTest = (
  { database, newId }: TestContext,
  access: WorkspaceAccess,
  slug: string,
  { id = newId(), name, request, response, policy = 'contains', critical }: CreateRuleTestRequest,
): Promise<RuleTest> =>
  database.inWorkspace(access, async (transaction) => {
    const suite = await findTestSuiteForChange(transaction, { slug });
    if (suite === undefined) throw ruleNotFound({ slug });
    const known = readTests(suite.tests).find((test) => test.id === id);
    if (known !== undefined) return toTest(known, undefined);
    if (suite.tests.length >= MAX_TESTS)
      throw new ServiceError('too_many_tests', `A rule has at most ${MAX_TESTS} tests; delete some first.`, {
        limit: MAX_TESTS,
      });
    const test = { id, name, request, response, policy, critical };
    await saveTestSuite(transaction, { ruleId: suite.ruleId, tests: [...suite.tests, test] });
    return toTest(test, undefined);
  });

/** Takes a test out of the draft. Throws `rule_not_found` or `test_not_found`. */
export const deleteTest = (
  { database }: TestContext,
  access: WorkspaceAccess,
  slug: string,
  id: string,
): Promise<RuleTest> =>
  database.inWorkspace(access, async (transaction) => {
    const suite = await findTestSuiteForChange(transaction, { slug });
    if (suite === undefined) throw ruleNotFound({ slug });
    const at = readTests(suite.tests).findIndex((test) => test.id === id);
    const deleted = readTests(suite.tests)[at];
    if (deleted === undefined)
      throw new ServiceError('test_not_found', `The rule "${slug}" has no test of the id "${id}".`, { id });
    await saveTestSuite(transaction, { ruleId: suite.ruleId, tests: suite.tests.filter((_, index) => index !== at) });
    await deleteTestResult(transaction, suite.ruleId, id);
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
    const rule = await findRule(transaction, { slug });
    if (rule === undefined) throw ruleNotFound({ slug });
    return toRun(slug, await testDraft(transaction, { now }, rule, criticalOnly));
  });
