import { type Operation } from '../operation';
import { CreateRuleTestRequest, RuleTest, RuleTestList, RuleTestRun, RunRuleTestsRequest } from './rule-tests';

const slug = { name: 'slug', description: "The rule's slug.", example: 'parcel-price' };
const shared = { service: 'objects-api', tag: 'Tests of rules', pathParameters: [slug] } as const;

const testExample = {
  id: '3f3d0a51-7c3e-4a52-9b6c-9b0f4b1d2e3f',
  name: 'A letter',
  request: { weight: 0.1 },
  response: { price: 4.9 },
  policy: 'contains',
  critical: true,
};

export const listRuleTests = {
  ...shared,
  id: 'listRuleTests',
  method: 'get',
  path: '/api/v1/admin/rules/{slug}/tests',
  summary: 'List the tests of a rule',
  description: 'Each test with how it last went, in the order of the suite.',
  entitlement: 'rules.read',
  success: {
    status: 200,
    description: 'The tests, each with how it last went.',
    schema: RuleTestList,
    example: [testExample],
  },
  errors: ['rule_not_found'],
} as const satisfies Operation;

export const createRuleTest = {
  ...shared,
  id: 'createRuleTest',
  method: 'post',
  path: '/api/v1/admin/rules/{slug}/tests',
  summary: 'Add a test to a rule',
  description: 'Tests are part of the draft: they are exported and imported with it, as `testSuite`.',
  entitlement: 'rules.write',
  body: {
    schema: CreateRuleTestRequest,
    large: true,
    description: 'The test.',
    example: { name: 'A letter', request: { weight: 0.1 }, response: { price: 4.9 }, critical: true },
  },
  success: { status: 200, description: 'The test.', schema: RuleTest, example: testExample },
  errors: ['rule_not_found', 'too_many_tests'],
} as const satisfies Operation;

export const deleteRuleTest = {
  ...shared,
  id: 'deleteRuleTest',
  method: 'delete',
  path: '/api/v1/admin/rules/{slug}/tests/{test_id}',
  pathParameters: [slug, { name: 'test_id', description: 'The id of the test.', example: testExample.id }],
  summary: 'Delete a test of a rule',
  description: 'The other tests of the rule stay as they are.',
  entitlement: 'rules.write',
  success: { status: 200, description: 'The deleted test.', schema: RuleTest, example: testExample },
  errors: ['rule_not_found', 'test_not_found'],
} as const satisfies Operation;

export const runRuleTests = {
  ...shared,
  id: 'runRuleTests',
  method: 'post',
  path: '/api/v1/admin/rules/{slug}/tests/run',
  summary: 'Run the tests of a rule against its draft',
  description: 'Nothing is published. The state of each test that ran is kept with it.',
  entitlement: 'rules.write',
  body: {
    schema: RunRuleTestsRequest,
    description: 'Which tests; all where there is no body.',
    example: { critical_only: true },
    optional: true,
  },
  success: {
    status: 200,
    description: 'How they went.',
    schema: RuleTestRun,
    example: {
      rule: 'parcel-price',
      total: 1,
      passed: 1,
      failed: 0,
      pass_percentage: '100.00',
      critical_failure: false,
      failed_tests: [],
      critical_failed_tests: [],
      results: [
        { id: testExample.id, name: 'A letter', policy: 'contains', critical: true, success: true, error: false },
      ],
      failures: [],
    },
  },
  errors: ['rule_not_found', 'rule_invalid', 'deadline_exceeded'],
} as const satisfies Operation;

export const ruleTestOperations = [listRuleTests, createRuleTest, deleteRuleTest, runRuleTests];
