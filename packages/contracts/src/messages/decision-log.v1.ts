import { type Static, Type } from '@sinclair/typebox';
import { type AssetKind, assetKinds } from '../asset-pointer';
import { compileValidator } from '../validator';

/** One input that was solved, or could not be. `request` is the input from the client, `response` the answer. */
const DecisionItem = Type.Object(
  {
    index: Type.Integer({ minimum: 0, description: 'Position in the request; 0 for a request of one input.' }),
    execution_id: Type.Optional(
      Type.String({ pattern: '^[0-9a-f]{32}$', description: 'Name of the run in the answer.' }),
    ),
    status: Type.Unsafe<'success' | 'error'>({ type: 'string', enum: ['success', 'error'] }),
    code: Type.Optional(Type.String({ description: 'The error code, where the status is error.' })),
    duration_us: Type.Integer({ minimum: 0, description: 'Evaluation, microseconds; of a chunk, the mean.' }),
    matched: Type.Array(Type.Integer({ minimum: 0 }), {
      description: 'Rows of the rule whose outputs make the response.',
    }),
    path_trace: Type.Optional(
      Type.Array(Type.Record(Type.String(), Type.Unknown()), {
        description: 'For a flow: the outcomes of its nodes in the order in which they ended, truncated to a size.',
      }),
    ),
    path_not_listed: Type.Optional(
      Type.Integer({ minimum: 1, description: 'How many nodes, within loops for each item, the trace leaves out.' }),
    ),
    request: Type.Unknown({ description: 'Null if the input was not JSON.' }),
    response: Type.Record(Type.String(), Type.Unknown()),
  },
  { $id: 'DecisionItem', additionalProperties: false, description: 'One decision.' },
);
type DecisionItem = Static<typeof DecisionItem>;

/**
 * The value of a message on `logs`, version 1: the results of one message of `solution`, one item for each input. `id` and an item's `index`
 * identify a decision: an input that was evaluated twice, because a worker died before it could report the result, is logged twice under one
 * identity.
 */
export const DecisionLog = Type.Object(
  {
    v: Type.Literal(1),
    id: Type.String({ minLength: 1 }),
    kind: Type.Unsafe<AssetKind>({ type: 'string', enum: [...assetKinds] }),
    workspace_id: Type.String(),
    key_id: Type.String(),
    slug: Type.String(),
    selector: Type.String(),
    version_id: Type.String(),
    request_id: Type.String(),
    trace_id: Type.Union([Type.String({ pattern: '^[0-9a-f]{32}$' }), Type.Null()]),
    received_at: Type.String({ format: 'date-time' }),
    worker: Type.String(),
    items: Type.Array(DecisionItem, { minItems: 1 }),
  },
  { $id: 'DecisionLog', additionalProperties: false, description: 'Decisions of one request, or of one chunk of it.' },
);
export type DecisionLog = Static<typeof DecisionLog>;

export const checkDecisionLog = compileValidator(DecisionLog);
