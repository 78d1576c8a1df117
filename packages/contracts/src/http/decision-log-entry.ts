import { type Static, Type } from '@sinclair/typebox';
import { type AssetKind, assetKinds } from '../asset-pointer';
import { described } from '../described';
import { timestamp } from '../page-schema';

const json = Type.Record(Type.String(), Type.Unknown());

const DecisionItem = Type.Object(
  {
    index: Type.Integer({ minimum: 0, description: 'Position in the request, from 0.' }),
    status: Type.Integer({ description: 'HTTP status of this input, had it come alone.' }),
    code: Type.Optional(Type.String({ description: 'The error code, where it could not be decided.' })),
    duration_ms: Type.Number({ description: 'Evaluation, milliseconds; of a part of a list, the mean.' }),
    matched: Type.Array(Type.Integer(), { description: 'Rows of the rule that made the response, from 0.' }),
  },
  { $id: 'DecisionItemFacts', description: 'The outcome of one input.' },
);

const DecisionFacts = Type.Object(
  {
    type: Type.Unsafe<AssetKind>({
      type: 'string',
      enum: [...assetKinds],
      description: 'What decided: `rule` or `flow`.',
    }),
    asset_id: Type.Optional(
      Type.String({ description: 'Id of the rule or flow; absent if it no longer existed when the record arrived.' }),
    ),
    selector: Type.String({ description: 'What the request asked for: `latest`, a version number or an environment.' }),
    version_id: Type.Optional(
      Type.String({
        description: 'Id of the version that answered; absent if it was refused before one was chosen.',
      }),
    ),
    context: Type.Optional(
      Type.String({
        description:
          'Of a run within an operation on an instance: its context. This and the instance are shown to keys that see the context.',
      }),
    ),
    instance: Type.Optional(Type.String({ description: 'The instance of such a run.' })),
    flow: Type.Optional(
      Type.String({ description: 'Slug of the flow that asked for that operation, for keys that see the flow.' }),
    ),
    execution_id: Type.Optional(Type.String({ description: 'Name of such a run, 32 hexadecimal digits.' })),
    stands_for: Type.Optional(
      Type.Integer({ description: 'How many refused requests this record represents; absent if it is one.' }),
    ),
    request_id: Type.String({ description: 'Id of the request.' }),
    key_id: Type.Optional(
      Type.String({ description: 'Id of the key that asked; keys without restriction to groups read it.' }),
    ),
    items: Type.Array(DecisionItem, { description: 'One for each input that is shown, in their order.' }),
  },
  { $id: 'DecisionFacts', description: 'How it was decided.' },
);

export const DecisionLogEntry = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Id of the decision; of a list, of all of it.' }),
    timestamp: described(timestamp, 'Arrival of the request, ISO 8601 in UTC.'),
    name: Type.String({ description: 'Slug of the rule or flow.' }),
    endpoint: Type.String({ description: 'Path of the call that decides so.' }),
    status: Type.Integer({ description: 'HTTP status; of a list the highest of the items that were found.' }),
    request: Type.Optional(
      Type.Union(
        [described(json, 'The input.'), Type.Array(Type.Unknown(), { description: 'The inputs of a list.' })],
        {
          description:
            'What was sent; of a list its inputs, in the order of `decision.items`. Absent if it was not JSON.',
        },
      ),
    ),
    response: described(json, 'What was answered; of a list `{"results": [...]}`, in the order of `decision.items`.'),
    decision: described(DecisionFacts, 'How it was decided.'),
    trace_id: Type.Optional(Type.String({ description: 'Id of the trace of the request, 32 hexadecimal digits.' })),
    path_trace: Type.Optional(
      Type.Array(Type.Unknown(), {
        description:
          'For a flow, if requested: the outcomes of its nodes; for a list, one such list for each input. Keys that are restricted to groups read it only if they see everything that the flow runs.',
      }),
    ),
    matched_items: Type.Optional(
      Type.Array(Type.Integer(), {
        description: 'Of a list: positions in the request of the inputs that pass the filters.',
      }),
    ),
    error: Type.Optional(
      Type.String({ description: 'Why it could not be decided; of a list, the first such sentence.' }),
    ),
    abbreviated: Type.Boolean({
      description:
        'Whether something was left out: items beyond what is read at once, what was cut before it was written, or characters that the store cannot hold.',
    }),
  },
  { $id: 'DecisionLogEntry', description: 'One decision, or one request with a list of inputs.' },
);
export type DecisionLogEntry = Static<typeof DecisionLogEntry>;
