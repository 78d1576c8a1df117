import { Type } from '@sinclair/typebox';
import { type Operation } from './operation';

export const SolveInput = Type.Record(Type.String(), Type.Unknown(), {
  $id: 'SolveInput',
  description: "The rule's input fields. A dotted key may be given flat or nested.",
});

export const SolveOutput = Type.Record(Type.String(), Type.Unknown(), {
  $id: 'SolveOutput',
  description: "The rule's outputs: the first matching row's, else the defaults, else an empty object.",
});

export const SolveQuery = Type.Object(
  { explain: Type.Optional(Type.Unsafe<'true' | 'false' | 'all'>({ type: 'string', enum: ['true', 'false', 'all'] })) },
  { $id: 'SolveQuery', description: 'Whether the answer explains itself under `$explain`.' },
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
  body: { schema: SolveInput, description: "The rule's input.", example: { weight: 1.5 } },
  success: { status: 200, description: "The rule's outputs.", schema: SolveOutput, example: { price: 4.9 } },
  errors: [
    'rule_not_found',
    'rule_not_published',
    'version_not_found',
    'environment_not_found',
    'payload_too_large',
    'result_too_large',
    'unsupported_media_type',
    'input_not_object',
    'number_out_of_range',
    'evaluation_failed',
    'overloaded',
    'broker_unavailable',
    'not_ready',
    'deadline_exceeded',
  ],
} as const;

export const solveRule = {
  ...shared,
  id: 'solveRule',
  path: '/api/v1/solve/{slug}',
  pathParameters: [slug],
  summary: 'Solve the latest published version of a rule',
} as const satisfies Operation;

export const solveRuleVersion = {
  ...shared,
  id: 'solveRuleVersion',
  path: '/api/v1/solve/{slug}/{selector}',
  pathParameters: [slug, selector],
  summary: 'Solve one version of a rule',
} as const satisfies Operation;

export const solveOperations = [solveRule, solveRuleVersion];
