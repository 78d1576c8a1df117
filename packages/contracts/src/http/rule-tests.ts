import { type Static, Type } from '@sinclair/typebox';

const jsonObject = Type.Record(Type.String(), Type.Unknown());

/** How the output of a rule is compared with what a test expects. */
export const testPolicies = ['contains', 'matches', 'excludes'] as const;
export type TestPolicy = (typeof testPolicies)[number];

const policy = Type.Unsafe<TestPolicy>({
  type: 'string',
  enum: [...testPolicies],
  description:
    '`contains`: the expected fragment stands somewhere in the output. `matches`: they are equal. `excludes`: it stands nowhere.',
});

/** How the last run of a test went. */
export const TestState = Type.Object(
  {
    duration: Type.Number({ description: 'Milliseconds.' }),
    response: jsonObject,
    conditions: Type.Array(jsonObject),
    http_status: Type.Integer(),
    success_idxs: Type.Array(Type.Integer(), { description: 'Indexes of the rows that made the answer.' }),
    evaluation_error: Type.Union([Type.Boolean(), Type.String()]),
  },
  { $id: 'TestState', description: 'What there is to see about the last run.' },
);
export type TestState = Static<typeof TestState>;

export const RuleTest = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    request: jsonObject,
    response: jsonObject,
    policy,
    critical: Type.Boolean({ description: 'Whether a failure blocks publishing.' }),
    success: Type.Optional(Type.Boolean({ description: 'Of the last run; absent where there was none.' })),
    error: Type.Optional(Type.Boolean()),
    test_state: Type.Optional(TestState),
    last_executed: Type.Optional(Type.String({ format: 'date-time' })),
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
    name: Type.String({ minLength: 1, maxLength: 500 }),
    request: jsonObject,
    response: jsonObject,
    policy: Type.Optional(policy),
    critical: Type.Boolean(),
    // What lists show of a test, so that one can be sent back as it was listed; nothing is done with it.
    error: Type.Optional(Type.Unknown()),
    success: Type.Optional(Type.Unknown()),
    test_state: Type.Optional(Type.Unknown()),
    last_executed: Type.Optional(Type.Unknown()),
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
  { critical_only: Type.Optional(Type.Boolean({ default: false })) },
  { $id: 'RunRuleTestsRequest', additionalProperties: false, description: 'Which tests.' },
);

const outcome = { id: Type.String(), name: Type.String(), policy, critical: Type.Boolean() };

export const RuleTestRun = Type.Object(
  {
    rule: Type.String({ description: 'Slug of the rule.' }),
    total: Type.Integer(),
    passed: Type.Integer(),
    failed: Type.Integer(),
    pass_percentage: Type.String({ description: 'With two decimals; 100.00 where there are no tests.' }),
    critical_failure: Type.Boolean({ description: 'Whether a critical test failed.' }),
    failed_tests: Type.Array(Type.String(), { description: 'Their names.' }),
    critical_failed_tests: Type.Array(Type.String(), { description: 'Their names.' }),
    results: Type.Array(Type.Object({ ...outcome, success: Type.Boolean(), error: Type.Boolean() })),
    failures: Type.Array(
      Type.Object({
        ...outcome,
        expected: Type.Unknown(),
        actual: Type.Unknown({ description: 'The output; null where the rule could not be evaluated.' }),
        matched_rows: Type.Array(Type.Integer()),
        error_message: Type.Optional(Type.String()),
      }),
    ),
  },
  { $id: 'RuleTestRun', description: 'How the tests went, in their order.' },
);
export type RuleTestRun = Static<typeof RuleTestRun>;
