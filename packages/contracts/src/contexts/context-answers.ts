import { type Static, Type } from '@sinclair/typebox';
import {
  type AssetType,
  assetTypes,
  type ExecutionStatus,
  executionStatuses,
  type InstanceStatus,
  instanceStatuses,
  type UntriggeredReason,
  untriggeredReasons,
} from './context-words';

const names = Type.Array(Type.String());
const moment = Type.String({ format: 'date-time' });
const jsonObject = Type.Record(Type.String(), Type.Unknown());
const status = Type.Unsafe<InstanceStatus>({ type: 'string', enum: [...instanceStatuses] });

/** Facts that a run cleared; see C66 of docs/specs/contexts.md. */
export const clearedFacts = Type.Array(Type.String(), {
  description: 'Facts that lost their value: the asset had written them itself and did not answer them again.',
});

/** A fact of a request that was not merged; see C22 of docs/specs/contexts.md. */
export const IgnoredFact = Type.Object(
  { fact: Type.String(), reason: Type.String() },
  { $id: 'IgnoredFact', description: 'A fact that was not merged, and why.' },
);
export type IgnoredFact = Static<typeof IgnoredFact>;

/** What stands in an answer only where there is something to say: facts that were not merged, and work that was not finished. */
export const remarks = {
  ignored: Type.Optional(
    Type.Array(IgnoredFact, { description: 'Facts that were not merged (`on_schema_mismatch`), the first 100.' }),
  ),
  ignored_count: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Facts that were not merged, those that are not listed among them.' }),
  ),
  unfinished: Type.Optional(
    Type.Array(Type.String(), { description: 'Assets that would still run; `stopped_by` says why they did not.' }),
  ),
  stopped_by: Type.Optional(
    Type.String({ description: 'Why the instance was not settled: `repeated_state`, `memory_bound` or `deadline`.' }),
  ),
};
export type Remarks = Pick<BatchResult, keyof typeof remarks>;

/** What one registered evaluation still waits for. */
export const ContextWaitingOn = Type.Object(
  {
    context: Type.String({ description: 'Slug.' }),
    instance: Type.String(),
    fields: names,
    relation: Type.Optional(Type.String()),
    dependentDerivedFields: Type.Optional(names),
  },
  { $id: 'ContextWaitingOn', description: 'Facts that an asset waits for.' },
);
export type ContextWaitingOn = Static<typeof ContextWaitingOn>;

/** Durable metadata of one bound asset on one instance; see C70. */
export const ExecutionRecord = Type.Object(
  {
    type: Type.Unsafe<AssetType>({ type: 'string', enum: [...assetTypes] }),
    slug: Type.String(),
    status: Type.Unsafe<ExecutionStatus>({ type: 'string', enum: [...executionStatuses] }),
    effective_version: Type.String(),
    input_hash: Type.String(),
    run_count: Type.Integer({ minimum: 1 }),
    timestamp: moment,
    written_to_context: names,
    owned_facts: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Facts that this asset wrote and that nobody has given or written since: its next run clears those that it does not answer again.',
      }),
    ),
    error: Type.Optional(Type.String()),
    last_success: Type.Optional(Type.Object({ effective_version: Type.String(), input_hash: Type.String() })),
  },
  { $id: 'ExecutionRecord', description: 'The last run of one bound asset.' },
);
export type ExecutionRecord = Static<typeof ExecutionRecord>;

export const BatchRejection = Type.Object(
  { position: Type.Integer({ minimum: 0 }), error: Type.String() },
  { $id: 'BatchRejection', description: 'A record that was not merged.' },
);
export type BatchRejection = Static<typeof BatchRejection>;

export const ExecutedAsset = Type.Object(
  {
    type: Type.Unsafe<AssetType>({ type: 'string', enum: [...assetTypes] }),
    slug: Type.String(),
    status: Type.Unsafe<ExecutionStatus>({ type: 'string', enum: [...executionStatuses] }),
    execution_id: Type.Optional(Type.String()),
    error: Type.Optional(Type.String()),
    result: Type.Optional(Type.Unknown()),
    written_to_context: Type.Optional(names),
    cleared: Type.Optional(clearedFacts),
  },
  { $id: 'ExecutedAsset', description: 'What became of one bound asset.' },
);
export type ExecutedAsset = Static<typeof ExecutedAsset>;

/** Fields of a result of a batch that `include` can ask for; `instance_id` always comes. */
export const batchIncludes = [
  'positions',
  'is_new',
  'status',
  'have',
  'need',
  'state',
  'expires_at',
  'executions',
  'executed',
  'triggered',
  'reason',
  'execution_results',
] as const;
export type BatchInclude = (typeof batchIncludes)[number];

export const BatchResult = Type.Object(
  {
    instance_id: Type.String(),
    positions: Type.Optional(Type.Array(Type.Integer({ minimum: 0 }))),
    is_new: Type.Optional(Type.Boolean()),
    status: Type.Optional(status),
    have: Type.Optional(names),
    need: Type.Optional(names),
    state: Type.Optional(jsonObject),
    expires_at: Type.Optional(Type.Union([moment, Type.Null()])),
    executions: Type.Optional(Type.Record(Type.String(), ExecutionRecord)),
    executed: Type.Optional(Type.Array(ExecutedAsset)),
    triggered: Type.Optional(Type.Boolean()),
    reason: Type.Optional(Type.Unsafe<UntriggeredReason>({ type: 'string', enum: [...untriggeredReasons] })),
    ...remarks,
  },
  { $id: 'BatchResult', description: 'One touched instance.' },
);
export type BatchResult = Static<typeof BatchResult>;
