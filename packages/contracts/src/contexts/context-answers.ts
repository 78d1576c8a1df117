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
  },
  { $id: 'BatchResult', description: 'One touched instance.' },
);
export type BatchResult = Static<typeof BatchResult>;
