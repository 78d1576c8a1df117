import { type Static, Type } from '@sinclair/typebox';
import { nullable, pageQueryFields, timestamp } from '../http/page-schema';
import {
  BatchRejection,
  BatchResult,
  clearedFacts,
  ContextWaitingOn,
  ExecutionRecord,
  remarks,
} from './context-answers';
import { type AssetType, assetTypes, type InstanceStatus, instanceStatuses } from './context-words';

const names = Type.Array(Type.String());
const facts = Type.Record(Type.String(), Type.Unknown());
const status = Type.Unsafe<InstanceStatus>({ type: 'string', enum: [...instanceStatuses] });
const assetType = Type.Unsafe<AssetType>({ type: 'string', enum: [...assetTypes] });

/** How an asset is reported to whoever submits: `solved`, or what came of it instead. */
export const cascadeStatuses = [
  'solved',
  'pending',
  'skipped_already_run',
  'skipped_in_progress',
  'evaluation_error',
  'infrastructure_error',
] as const;

export const CascadeResult = Type.Object(
  {
    context: Type.String({ description: '`<slug>:<instance>`' }),
    rule: Type.Optional(Type.String()),
    flow: Type.Optional(Type.String()),
    status: Type.Unsafe<(typeof cascadeStatuses)[number]>({ type: 'string', enum: [...cascadeStatuses] }),
    result: Type.Optional(facts),
    auto_executed: Type.Boolean(),
    written_to_context: Type.Optional(names),
    cleared: Type.Optional(clearedFacts),
    error: Type.Optional(Type.String()),
  },
  { $id: 'CascadeResult', description: 'What became of one asset.' },
);
export type CascadeResult = Static<typeof CascadeResult>;

/** What became of the instances of one context that read a changed one. */
export const ContextCascadeSummary = Type.Object(
  {
    context: Type.String({ description: 'Slug.' }),
    relation: Type.String(),
    instances: Type.Integer(),
    executed: Type.Integer(),
    skipped: Type.Integer(),
    evaluation_errors: Type.Integer(),
    infrastructure_errors: Type.Integer(),
    failed_instance_ids: Type.Optional(names),
    execution_degraded: Type.Optional(Type.String()),
    error: Type.Optional(Type.String()),
  },
  { $id: 'ContextCascadeSummary', description: 'The re-evaluation of dependent instances of one context.' },
);
export type ContextCascadeSummary = Static<typeof ContextCascadeSummary>;

/** Dependent instances whose re-evaluation did not succeed. */
export const CascadeRejection = Type.Object(
  {
    context: Type.String({ description: 'Slug.' }),
    relation: Type.String(),
    instance_ids: Type.Array(Type.String(), {
      description: 'Instances to submit again with their identity alone; none where they could not even be looked for.',
    }),
    error: Type.String(),
  },
  { $id: 'CascadeRejection', description: 'Dependent instances that may hold what was decided before.' },
);
export type CascadeRejection = Static<typeof CascadeRejection>;

const cascadeRejections = Type.Optional(
  Type.Array(CascadeRejection, { description: 'One for each context and relation of which something failed.' }),
);

const cascaded = Type.Array(Type.Union([CascadeResult, ContextCascadeSummary]));

const submitted = {
  context: Type.String({ description: '`<slug>:<instance>`' }),
  state: facts,
  status,
  have: names,
  need: names,
  is_new: Type.Boolean(),
  triggered: Type.Boolean(),
  reason: Type.Optional(Type.String()),
  expires_at: nullable(timestamp),
  cascaded,
  execution_degraded: Type.Optional(Type.String()),
  cascade_rejections: cascadeRejections,
  ...remarks,
};

export const SubmitAnswer = Type.Object(submitted, { $id: 'SubmitAnswer', description: 'The instance as it now is.' });
export type SubmitAnswer = Static<typeof SubmitAnswer>;

export const FactsBody = Type.Record(Type.String(), Type.Unknown(), {
  $id: 'FactsBody',
  description: 'Facts by name; the identity fact is taken from the path.',
});

export const InstanceAnswer = Type.Object(
  {
    context: Type.String(),
    state: facts,
    derived: facts,
    status,
    have: names,
    need: names,
    executions: Type.Record(Type.String(), ExecutionRecord),
    relations: Type.Record(Type.String(), Type.Unknown()),
    created_at: timestamp,
    updated_at: timestamp,
    expires_at: nullable(timestamp),
  },
  { $id: 'InstanceAnswer', description: 'One instance.' },
);
export type InstanceAnswer = Static<typeof InstanceAnswer>;

export const GetInstanceQuery = Type.Object(
  {
    include: Type.Optional(Type.String({ maxLength: 500 })),
    include_relations: Type.Optional(
      Type.String({ maxLength: 2_000, description: 'Names of relationships, or `true` for all.' }),
    ),
  },
  { $id: 'GetInstanceQuery', additionalProperties: false, description: 'What of the instance.' },
);

export const ListInstancesQuery = Type.Object(
  {
    ...pageQueryFields,
    prefix: Type.Optional(Type.String({ maxLength: 512 })),
    status: Type.Optional(status),
  },
  { $id: 'ListInstancesQuery', additionalProperties: false, description: 'Which instances.' },
);

export const InstanceList = Type.Object(
  { data: Type.Array(InstanceAnswer), next_cursor: nullable(Type.String()) },
  { $id: 'InstanceList', description: 'Instances in the order of their ids.' },
);
export type InstanceList = Static<typeof InstanceList>;

export const DeletedInstance = Type.Object(
  {
    message: Type.String(),
    pending_evaluations_cancelled: Type.Integer(),
    cascaded: Type.Array(ContextCascadeSummary),
    execution_degraded: Type.Optional(Type.String()),
    cascade_recovery: Type.Optional(
      Type.Object(
        { context: Type.String(), previous_state: facts, action: Type.String() },
        { description: 'Where dependents could not be re-evaluated: what to do about it.' },
      ),
    ),
  },
  { $id: 'DeletedInstance', description: 'An instance that is gone.' },
);
export type DeletedInstance = Static<typeof DeletedInstance>;

export const HistoryQuery = Type.Object(
  {
    field: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    limit: Type.Optional(Type.String({ pattern: '^[0-9]{1,5}$', description: '1 to 10,000 entries of each fact.' })),
  },
  { $id: 'HistoryQuery', additionalProperties: false, description: 'Which history.' },
);

export const InstanceHistoryAnswer = Type.Object(
  {
    context: Type.String(),
    history: Type.Record(
      Type.String(),
      Type.Array(Type.Object({ timestamp, value: Type.Unknown() }, { description: 'Newest first.' })),
    ),
  },
  { $id: 'InstanceHistory', description: 'Committed values of tracked facts.' },
);
export type InstanceHistoryAnswer = Static<typeof InstanceHistoryAnswer>;

const PendingEvaluation = Type.Object(
  {
    type: assetType,
    rule: Type.Optional(Type.String()),
    flow: Type.Optional(Type.String()),
    waiting_on: Type.Array(ContextWaitingOn),
    created_at: timestamp,
    expires_at: nullable(timestamp),
  },
  { $id: 'PendingEvaluation', description: 'An evaluation that waits for facts.' },
);

export const PendingAnswer = Type.Object(
  { pending: Type.Array(PendingEvaluation) },
  { $id: 'PendingAnswer', description: 'Registered evaluations of an instance.' },
);
export type PendingAnswer = Static<typeof PendingAnswer>;

export const CascadeRequest = Type.Object({}, { $id: 'CascadeRequest', description: 'Nothing is needed.' });

export const CascadeAnswer = Type.Object(
  { context: Type.String(), cascaded, unfinished: remarks.unfinished, stopped_by: remarks.stopped_by },
  { $id: 'CascadeAnswer', description: 'What became of the registered evaluations.' },
);
export type CascadeAnswer = Static<typeof CascadeAnswer>;

export const SolveInstanceAnswer = Type.Object(
  {
    status: Type.Unsafe<'solved' | 'error' | 'pending'>({ type: 'string', enum: ['solved', 'error', 'pending'] }),
    context: Type.String(),
    rule: Type.String(),
    result: Type.Optional(facts),
    written_to_context: Type.Optional(names),
    cleared: Type.Optional(clearedFacts),
    cascaded: Type.Optional(cascaded),
    error: Type.Optional(Type.String()),
    have: Type.Optional(names),
    need: Type.Optional(names),
    waiting_on: Type.Optional(Type.Array(ContextWaitingOn)),
    expires_at: Type.Optional(nullable(timestamp)),
    cascade_rejections: cascadeRejections,
    ...remarks,
  },
  { $id: 'SolveInstanceAnswer', description: 'What the rule decided, or what it waits for.' },
);
export type SolveInstanceAnswer = Static<typeof SolveInstanceAnswer>;

export const BatchQuery = Type.Object(
  { include: Type.Optional(Type.String({ maxLength: 1_000 })) },
  { $id: 'BatchQuery', additionalProperties: false, description: 'Which fields of results.' },
);

export const BatchBody = Type.Array(Type.Unknown(), {
  $id: 'BatchBody',
  description: 'Records: objects of facts, the identity fact among them. Each is checked by itself.',
});

export const BatchAnswer = Type.Object(
  {
    context: Type.String({ description: 'Slug.' }),
    accepted: Type.Integer(),
    rejected: Type.Integer(),
    executed: Type.Integer({ description: 'Runs of rules and flows.' }),
    ignored: Type.Integer({ description: 'Facts of accepted records that were not merged; results say which.' }),
    rejections: Type.Array(BatchRejection, {
      description:
        'All of them, as long as they fit into 8 MiB; beyond, the first ones. An answer of lines (accept: application/x-ndjson) tells all.',
    }),
    rejections_omitted: Type.Optional(
      Type.Integer({ description: 'Rejections beyond those that are listed; absent where there are none.' }),
    ),
    results: Type.Array(BatchResult),
    cascaded: Type.Array(ContextCascadeSummary),
    cascade_rejections: cascadeRejections,
    execution_degraded: Type.Optional(Type.String()),
    timings: Type.Object({ total_ms: Type.Integer(), ingest_ms: Type.Integer() }),
  },
  { $id: 'BatchAnswer', description: 'One entry for each touched instance.' },
);
export type BatchAnswer = Static<typeof BatchAnswer>;
