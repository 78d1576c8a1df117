import { Type } from '@sinclair/typebox';
import { fixedLimits } from '../limits';
import { type HeaderParameter, type Operation } from './operation';

const SolveInput = Type.Record(Type.String(), Type.Unknown(), {
  $id: 'SolveInput',
  description: "The rule's input fields. A dotted key may be given flat or nested.",
});

const SolveOutput = Type.Record(Type.String(), Type.Unknown(), {
  $id: 'SolveOutput',
  description: "The rule's outputs: the first matching row's, else the defaults, else an empty object.",
});

const SolveInputs = Type.Array(SolveInput, { $id: 'SolveInputs', description: 'Inputs of one rule.' });

const FailedResult = Type.Object(
  {
    error: Type.String({ description: 'A sentence that a person can act on.' }),
    code: Type.Optional(Type.String({ description: 'A stable code for programs.' })),
  },
  { $id: 'FailedResult', description: 'What replaces a result that could not be made.' },
);

const SolveResults = Type.Array(Type.Union([SolveOutput, FailedResult]), {
  $id: 'SolveResults',
  description: 'For each input, in order, its outputs or why it failed.',
});

/** One input, or a list of them. */
export const SolveBody = Type.Union([SolveInput, SolveInputs], {
  $id: 'SolveBody',
  description: 'One input, or a list of inputs, which makes it a bulk request.',
});

/** Answer to a {@link SolveBody}. */
const SolveAnswer = Type.Union([SolveOutput, SolveResults], {
  $id: 'SolveAnswer',
  description: 'The outputs of one input, or the results of a list.',
});

const SolveQuery = Type.Object(
  {
    explain: Type.Optional(
      Type.Unsafe<'true' | 'false' | 'all'>({
        type: 'string',
        enum: ['true', 'false', 'all'],
        description:
          '`true` adds which rows made the answer and why the first 50 others did not match, `all` why each of the others did not, `false`, the default, nothing.',
      }),
    ),
  },
  {
    $id: 'SolveQuery',
    description:
      'Whether the answer explains itself under `$explain`, which shows cells of the rule: the key also needs `rules.read`. An argument that refers to a value of the workspace has the content beside the reference, as `value`, where the key sees that value.',
  },
);

const FlowQuery = Type.Object(
  {
    explain: Type.Optional(
      Type.Unsafe<'true' | 'false' | 'all'>({
        type: 'string',
        enum: ['true', 'false', 'all'],
        description:
          '`true` and `all` add the status of each node, with its inputs, outputs and duration; `false`, the default, nothing.',
      }),
    ),
  },
  {
    $id: 'FlowQuery',
    description:
      'Whether the answer explains itself under `$explain`, whose `path` lists the nodes; it shows cells of rules: the key also needs `rules.read`. A key that does not see everything that the flow runs sees the status of each node, without inputs and outputs.',
  },
);

const slug = { name: 'slug', description: "The rule's slug.", example: 'parcel-price' };
const selector = {
  name: 'selector',
  description: '`latest`, the number of a published version, or the slug of an environment.',
  example: 'latest',
};

const shared = {
  service: 'hps-gateway',
  tag: 'Solving',
  method: 'post',
  entitlement: 'solve',
  query: SolveQuery,
  body: {
    anyText: true,
    schema: SolveBody,
    large: true,
    description: "The rule's input, or a list of inputs.",
    example: { weight: 1.5 },
  },
  success: {
    status: 200,
    description: "The rule's outputs, or a list of them.",
    schema: SolveAnswer,
    example: { price: 4.9 },
  },
  errors: [
    'rule_not_found',
    'rule_not_published',
    'version_not_found',
    'environment_not_found',
    'too_many_items',
    'payload_too_large',
    'result_too_large',
    'unsupported_media_type',
    'input_not_object',
    'number_out_of_range',
    'evaluation_failed',
    'overloaded',
    'broker_unavailable',
    'not_ready',
    'too_few_reply_partitions',
    'decision_not_recorded',
    'deadline_exceeded',
  ],
} as const;

export const solveRule = {
  ...shared,
  id: 'solveRule',
  path: '/api/v1/solve/{slug}',
  pathParameters: [slug],
  summary: 'Solve the latest published version of a rule',
  description:
    'An object is one input and is answered with its outputs; a list makes a bulk request, see `bulkSolveRule`.',
} as const satisfies Operation;

export const solveRuleVersion = {
  ...shared,
  id: 'solveRuleVersion',
  path: '/api/v1/solve/{slug}/{selector}',
  pathParameters: [slug, selector],
  summary: 'Solve one version of a rule',
  description: 'As `solveRule`, for `latest`, a version number, or what is live in an environment.',
} as const satisfies Operation;

const BULK_RESULTS = [
  { price: 4.9 },
  { error: 'The input of a rule is a JSON object of its fields; this input is null.' },
];

const bulk = {
  ...shared,
  description:
    'Results come in the order of the inputs; one that fails is `{"error"}` in its slot. `application/x-ndjson` is accepted as body (one input a line) and as answer (`Accept`), which then streams. A request-level error about an input names its index.',
  body: {
    anyText: true,
    schema: SolveInputs,
    large: true,
    description: 'The inputs.',
    example: [{ weight: 1.5 }, { weight: 40 }],
    lines: { description: 'An input on each line.', example: [{ weight: 1.5 }, { weight: 40 }] },
  },
  success: {
    status: 200,
    description: 'The results, in the order of the inputs.',
    schema: SolveResults,
    example: BULK_RESULTS,
    lines: { description: 'A result on each line, in the order of the inputs.', example: BULK_RESULTS },
  },
} as const;

export const bulkSolveRule = {
  ...bulk,
  id: 'bulkSolveRule',
  path: '/api/v1/bulk-solve/{slug}',
  pathParameters: [slug],
  summary: 'Solve the latest published version of a rule for many inputs',
} as const satisfies Operation;

export const bulkSolveRuleVersion = {
  ...bulk,
  id: 'bulkSolveRuleVersion',
  path: '/api/v1/bulk-solve/{slug}/{selector}',
  pathParameters: [slug, selector],
  summary: 'Solve one version of a rule for many inputs',
} as const satisfies Operation;

const FlowInput = Type.Record(Type.String(), Type.Unknown(), {
  $id: 'FlowInput',
  description: "The input fields of the flow's origin. A dotted key may be given flat or nested.",
});

/** One input of a flow, or a list of them. */
const FlowBody = Type.Union([FlowInput, Type.Array(FlowInput)], {
  $id: 'FlowBody',
  description: 'One input, or a list of inputs.',
});

const FlowOutput = Type.Record(Type.String(), Type.Unknown(), {
  $id: 'FlowOutput',
  description: 'What the results of the flow give.',
});

const FlowAnswer = Type.Union([FlowOutput, FailedResult, Type.Array(Type.Union([FlowOutput, FailedResult]))], {
  $id: 'FlowAnswer',
  description: 'What the results of the flow give, or why it failed; of a list, for each input, in order.',
});

const idempotencyKey: HeaderParameter = {
  name: 'Idempotency-Key',
  description:
    'Names the work, so that what the flow asks of the outside carries the same keys when the request is sent again. Without it, each request is work of its own.',
  example: 'order-4711',
  maxLength: fixedLimits.idempotencyKeyLength,
};

const FLOW_RESULTS = [
  { price: 4.9, offer: 'standard' },
  {
    error: 'Node "tariff": the input "weight" is a number; this one is a string.',
    code: 'evaluation_failed',
  },
];

const flowSlug = { name: 'slug', description: "The flow's slug.", example: 'parcel-offer' };

const flow = {
  ...shared,
  query: FlowQuery,
  headers: [idempotencyKey],
  body: {
    anyText: true,
    schema: FlowBody,
    large: true,
    description: "The flow's input, or a list of inputs.",
    example: { weight: 1.5 },
    lines: { description: 'An input on each line.', example: [{ weight: 1.5 }, { weight: 'heavy' }] },
  },
  success: {
    status: 200,
    description:
      'What the flow answers, or a list of it. With `failedResponseMode` `return`, the default of flows, an evaluation that failed is answered as `{"error", "code"}` as well.',
    schema: FlowAnswer,
    example: { price: 4.9, offer: 'standard' },
    lines: { description: 'An answer on each line, in the order of the inputs.', example: FLOW_RESULTS },
  },
  errors: [
    'flow_not_found',
    'flow_not_published',
    ...shared.errors.filter((code) => code !== 'rule_not_found' && code !== 'rule_not_published'),
    'flow_input_refused',
    'flow_failed',
    'flow_invalid',
    'infrastructure_error',
  ],
} as const;

export const solveFlow = {
  ...flow,
  id: 'solveFlow',
  path: '/api/v1/flows/{slug}',
  pathParameters: [flowSlug],
  summary: 'Run the latest published version of a flow',
  description:
    'An object is one input; a list, or `application/x-ndjson` (one input a line), is many, whose results come in their order, each failure in its own slot. With `Accept: application/x-ndjson` results of many stream as lines. A flow that reaches out is admitted apart from all other requests: see `FLOW_MAX_IN_FLIGHT_REQUESTS`. With the setting `failedResponseMode` of a flow at `fail`, one input that cannot be evaluated fails with its status.',
} as const satisfies Operation;

export const solveFlowVersion = {
  ...flow,
  id: 'solveFlowVersion',
  path: '/api/v1/flows/{slug}/{selector}',
  pathParameters: [flowSlug, selector],
  summary: 'Run one version of a flow',
  description: 'As `solveFlow`, for `latest`, a version number, or what is live in an environment.',
} as const satisfies Operation;

const ParallelSolveRequest = Type.Record(
  Type.String(),
  Type.Object({
    $rule: Type.Optional(Type.String({ description: '`slug` or `slug/selector` of a rule.' })),
    $flow: Type.Optional(Type.String({ description: '`slug` or `slug/selector` of a flow.' })),
  }),
  {
    $id: 'ParallelSolveRequest',
    maxProperties: fixedLimits.parallelEntries,
    description: 'Entries by name: what to solve, beside its input fields.',
  },
);

const ParallelSolveAnswer = Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()), {
  $id: 'ParallelSolveAnswer',
  description: 'By the same names: the outputs, or `{"$error": {"message", "status", "code"}}`.',
});

export const parallelSolve = {
  ...shared,
  id: 'parallelSolve',
  path: '/api/v1/parallel-solve',
  pathParameters: [],
  headers: [idempotencyKey],
  summary: 'Solve several rules and flows at once, each with an input of its own',
  description:
    'One entry that fails does not touch the others. The work of a flow is named by the idempotency key together with the name of its entry.',
  body: {
    anyText: true,
    schema: ParallelSolveRequest,
    large: true,
    description: 'The entries.',
    example: { price: { $rule: 'parcel-price', weight: 1.5 }, offer: { $flow: 'parcel-offer/2', weight: 1.5 } },
  },
  success: {
    status: 200,
    description: 'The results.',
    schema: ParallelSolveAnswer,
    example: {
      price: { price: 4.9 },
      offer: {
        $error: {
          message: 'The flow "parcel-offer" has no version 2; the latest is 1.',
          status: 404,
          code: 'version_not_found',
        },
      },
    },
  },
} as const satisfies Operation;

export const solveOperations = [
  solveRule,
  solveRuleVersion,
  bulkSolveRule,
  bulkSolveRuleVersion,
  solveFlow,
  solveFlowVersion,
  parallelSolve,
];
