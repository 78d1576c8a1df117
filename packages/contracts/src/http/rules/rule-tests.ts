import { type Static, Type } from '@sinclair/typebox';
import { described } from '../../described';

const jsonObject = Type.Record(Type.String(), Type.Unknown());

/** How the output of a rule is compared with the expectation of a test. */
export const testPolicies = ['contains', 'matches', 'excludes'] as const;
export type TestPolicy = (typeof testPolicies)[number];

const policy = Type.Unsafe<TestPolicy>({
  type: 'string',
  enum: [...testPolicies],
  description:
    '`contains`: the expected fragment stands somewhere in the output. `matches`: they are equal. `excludes`: it stands nowhere.',
});

/** The result of the last run of a test. */
export const TestState = Type.Object(
  {
    duration: Type.Number({ description: 'Milliseconds.' }),
    response: described(jsonObject, 'Output of the rule.'),
    conditions: Type.Array(jsonObject, { description: 'What was found about each row that was looked at.' }),
    http_status: Type.Integer({ description: 'Status that a solve would have answered.' }),
    success_idxs: Type.Array(Type.Integer(), { description: 'Indexes of the rows that made the answer.' }),
    evaluation_error: Type.Union([Type.Boolean(), Type.String()], {
      description: 'False, or why the rule could not be evaluated.',
    }),
  },
  { $id: 'TestState', description: 'What there is to see about the last run.' },
);
export type TestState = Static<typeof TestState>;

export const RuleTest = Type.Object(
  {
    id: Type.String({ description: 'Id of the test, unique in its rule.' }),
    name: Type.String({ description: 'Name for people.' }),
    request: described(jsonObject, 'Input of the rule.'),
    response: described(jsonObject, 'What the output is compared with.'),
    policy,
    critical: Type.Boolean({ description: 'Whether a failure blocks publishing.' }),
    success: Type.Optional(Type.Boolean({ description: 'Of the last run; absent if there was none.' })),
    error: Type.Optional(
      Type.Boolean({
        description: 'Whether the rule could not be evaluated in the last run; absent if there was none.',
      }),
    ),
    test_state: Type.Optional(TestState),
    last_executed: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'When it last ran, ISO 8601 in UTC; absent if it never did.',
      }),
    ),
  },
  { $id: 'RuleTest', description: 'An input, what is expected of the answer, and how it last went.' },
);
export type RuleTest = Static<typeof RuleTest>;

export const RuleTestList = Type.Array(RuleTest, { $id: 'RuleTestList', description: 'Every test of the rule.' });

export const CreateRuleTestRequest = Type.Object(
  {
    id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'One of your own; sending it again answers the same test.',
      }),
    ),
    name: Type.String({ minLength: 1, maxLength: 500, description: 'Name for people, 1 to 500 characters.' }),
    request: described(jsonObject, 'Input of the rule.'),
    response: described(jsonObject, 'What the output is compared with.'),
    policy: Type.Optional(policy),
    critical: Type.Boolean({
      description: 'Whether a failure blocks publishing where the rule is tested continuously.',
    }),
    // A field of a test in lists, accepted so that a listed test can be sent back; it is ignored.
    error: Type.Optional(Type.Unknown({ description: 'As lists show it; changes nothing.' })),
    success: Type.Optional(Type.Unknown({ description: 'As lists show it; changes nothing.' })),
    test_state: Type.Optional(Type.Unknown({ description: 'As lists show it; changes nothing.' })),
    last_executed: Type.Optional(Type.Unknown({ description: 'As lists show it; changes nothing.' })),
  },
  {
    $id: 'CreateRuleTestRequest',
    additionalProperties: false,
    description:
      'The new test. The default policy is `contains`. `error`, `success`, `test_state` and `last_executed` change nothing.',
  },
);
export type CreateRuleTestRequest = Static<typeof CreateRuleTestRequest>;

export const RunRuleTestsRequest = Type.Object(
  {
    critical_only: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether only critical tests run. Default false.' }),
    ),
  },
  { $id: 'RunRuleTestsRequest', additionalProperties: false, description: 'Which tests.' },
);

const outcome = {
  id: Type.String({ description: 'Id of the test.' }),
  name: Type.String({ description: 'Name of the test.' }),
  policy,
  critical: Type.Boolean({ description: 'Whether its failure blocks publishing.' }),
};

/** Fields of the answer to test runs of both rules and flows. */
export const testRunFields = {
  total: Type.Integer({ description: 'Tests that ran.' }),
  passed: Type.Integer({ description: 'Tests that succeeded.' }),
  failed: Type.Integer({ description: 'Tests that failed.' }),
  pass_percentage: Type.String({ description: 'With two decimals; 100.00 where there are no tests.' }),
  critical_failure: Type.Boolean({ description: 'Whether a critical test failed.' }),
  failed_tests: Type.Array(Type.String(), { description: 'Their names.' }),
  critical_failed_tests: Type.Array(Type.String(), { description: 'Their names.' }),
  results: Type.Array(
    Type.Object({
      ...outcome,
      success: Type.Boolean({ description: 'Whether the output was as expected.' }),
      error: Type.Boolean({ description: 'Whether it could not be evaluated.' }),
    }),
    { description: 'Each test that ran, in the order of the suite.' },
  ),
  failures: Type.Array(
    Type.Object({
      ...outcome,
      expected: Type.Unknown({ description: 'What the test expects.' }),
      actual: Type.Unknown({ description: 'The output; null if it could not be evaluated.' }),
      matched_rows: Type.Array(Type.Integer(), {
        description: 'Of a rule: indexes of the rows that made the answer, from 0. Empty for a flow.',
      }),
      error_message: Type.Optional(Type.String({ description: 'Why it could not be evaluated; absent if it could.' })),
    }),
    { description: 'Each failed test, with the expected and the actual outputs.' },
  ),
};

export const RuleTestRun = Type.Object(
  { rule: Type.String({ description: 'Slug of the rule.' }), ...testRunFields },
  { $id: 'RuleTestRun', description: 'How the tests went, in their order.' },
);
export type RuleTestRun = Static<typeof RuleTestRun>;
