import { type Static, Type } from '@sinclair/typebox';
import { described } from '../../described';
import { CreateRuleTestRequest, RuleTest, testRunFields } from '../rules/rule-tests';

const own = {
  mocks: Type.Optional(
    described(
      Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown())),
      'Outputs of nodes that reach out, by their `ref`; of a node in a subflow by the refs of the flow nodes around it and its own, with `/` between them. ' +
        'A node that is reached and has no entry fails the test, unless the test says `live`.',
    ),
  ),
  live: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Whether nodes that reach out and are not mocked ask the outside, as in a request. Nodes of type `entity` need mocks, and nothing is notified. Default false.',
    }),
  ),
};

export const FlowTest = Type.Object(
  { ...RuleTest.properties, ...own },
  { $id: 'FlowTest', description: 'An input, what is expected of the answer, and how it last went.' },
);
export type FlowTest = Static<typeof FlowTest>;

export const FlowTestList = Type.Array(FlowTest, { $id: 'FlowTestList', description: 'Every test of the flow.' });

export const CreateFlowTestRequest = Type.Object(
  {
    ...CreateRuleTestRequest.properties,
    ...own,
  },
  {
    $id: 'CreateFlowTestRequest',
    additionalProperties: false,
    description:
      'The new test. The default policy is `contains`. `error`, `success`, `test_state` and `last_executed` change nothing.',
  },
);

export const FlowTestRun = Type.Object(
  { flow: Type.String({ description: 'Slug of the flow.' }), ...testRunFields },
  { $id: 'FlowTestRun', description: 'How the tests went, in their order.' },
);
