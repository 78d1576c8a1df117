import { type Operation } from '../operation';
import { createRuleTest, deleteRuleTest, listRuleTests, runRuleTests } from '../rules/rule-test-operations';
import { RunRuleTestsRequest } from '../rules/rule-tests';
import { CreateFlowTestRequest, FlowTest, FlowTestList, FlowTestRun } from './flow-tests';

const shared = { service: 'objects-api', tag: 'Flows', pathParameters: [] } as const;
const slug = { name: 'slug', description: "The flow's slug.", example: 'parcel-quote' };

const tests = { ...shared, tag: 'Tests of flows', pathParameters: [slug] } as const;
const testExample = {
  ...listRuleTests.success.example[0],
  response: { total: 4.9 },
  mocks: { bureau: { score: 700 } },
};

export const listFlowTests = {
  ...tests,
  id: 'listFlowTests',
  method: 'get',
  path: '/api/v1/admin/flows/{slug}/tests',
  summary: 'List the tests of a flow',
  description: listRuleTests.description,
  entitlement: 'rules.read',
  success: { ...listRuleTests.success, schema: FlowTestList, example: [testExample] },
  errors: ['flow_not_found'],
} as const satisfies Operation;

export const createFlowTest = {
  ...tests,
  id: 'createFlowTest',
  method: 'post',
  path: '/api/v1/admin/flows/{slug}/tests',
  summary: 'Add a test to a flow',
  description: createRuleTest.description,
  entitlement: 'rules.write',
  body: {
    schema: CreateFlowTestRequest,
    large: true,
    description: 'The test.',
    example: { name: 'A letter', request: { weight: 0.1 }, response: { total: 4.9 }, critical: true },
  },
  success: { status: 200, description: 'The test.', schema: FlowTest, example: testExample },
  errors: ['flow_not_found', 'too_many_tests'],
} as const satisfies Operation;

export const deleteFlowTest = {
  ...tests,
  id: 'deleteFlowTest',
  method: 'delete',
  path: '/api/v1/admin/flows/{slug}/tests/{test_id}',
  pathParameters: [slug, ...deleteRuleTest.pathParameters.slice(1)],
  summary: 'Delete a test of a flow',
  description: 'The other tests of the flow stay as they are.',
  entitlement: 'rules.write',
  success: { status: 200, description: 'The deleted test.', schema: FlowTest, example: testExample },
  errors: ['flow_not_found', 'test_not_found'],
} as const satisfies Operation;

const { rule: _rule, ...runExample } = runRuleTests.success.example;

export const runFlowTests = {
  ...tests,
  id: 'runFlowTests',
  method: 'post',
  path: '/api/v1/admin/flows/{slug}/tests/run',
  summary: 'Run the tests of a flow against its draft',
  description:
    'Nothing is published. Nodes that reach out answer what the test mocks; only a test that says `live` asks the outside for the others. The state of each test that ran is kept with it.',
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
    schema: FlowTestRun,
    example: { flow: 'parcel-quote', ...runExample },
  },
  errors: ['flow_not_found', 'flow_invalid', 'rule_invalid', 'deadline_exceeded', 'overloaded'],
} as const satisfies Operation;

export const flowTestOperations: readonly Operation[] = [listFlowTests, createFlowTest, deleteFlowTest, runFlowTests];
