import { createRuleTest, deleteRuleTest, listRuleTests, runRuleTests } from '@decision/contracts';
import { bindOperation, type BoundOperation } from '@decision/service-kit';
import { accessOf } from '../access';
import { createTest, deleteTest, listTests, runTests, type TestContext } from '../tests/rule-tests';

/** The calls under /api/v1/admin/rules/{slug}/tests. */
export const ruleTestRoutes = (context: TestContext): readonly BoundOperation[] => [
  bindOperation(listRuleTests, ({ identity, params }) => listTests(context, accessOf(identity), params['slug'] ?? '')),
  bindOperation(createRuleTest, ({ identity, params, body }) =>
    createTest(context, accessOf(identity), params['slug'] ?? '', body),
  ),
  bindOperation(deleteRuleTest, ({ identity, params }) =>
    deleteTest(context, accessOf(identity), params['slug'] ?? '', params['test_id'] ?? ''),
  ),
  bindOperation(runRuleTests, ({ identity, params, body }) =>
    runTests(context, accessOf(identity), params['slug'] ?? '', body.critical_only ?? false),
  ),
];
