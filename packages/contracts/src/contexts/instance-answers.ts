import { type Static, Type } from '@sinclair/typebox';
import { nullable, pageQueryFields, timestamp } from '../page-schema';
import {
  BatchRejection,
  BatchResult,
  clearedFacts,
  ContextWaitingOn,
  ExecutionRecord,
  remarks,
} from './context-answers';
import { type AssetKind, assetKinds } from '../asset-pointer';
import { type InstanceStatus, instanceStatuses } from './context-words';
import { described } from '../described';

const names = Type.Array(Type.String());
const facts = Type.Record(Type.String(), Type.Unknown());
const uuid = Type.String({ format: 'uuid' });
const status = Type.Unsafe<InstanceStatus>({ type: 'string', enum: [...instanceStatuses] });
const assetType = Type.Unsafe<AssetKind>({ type: 'string', enum: [...assetKinds] });

/** The status of an asset in the answer to a submission: `solved`, or its outcome. */
const cascadeStatuses = [
  'solved',
  'pending',
  'skipped_already_run',
  'skipped_in_progress',
  'evaluation_error',
  'infrastructure_error',
] as const;

const executionId = Type.Optional(
  Type.String({ description: 'Name of the run among decisions, 32 hexadecimal digits; absent if there was none.' }),
);

export const CascadeResult = Type.Object(
  {
    context: Type.String({ description: '`<slug>:<instance>`' }),
    rule: Type.Optional(Type.String({ description: 'Slug of the rule.' })),
    flow: Type.Optional(Type.String({ description: 'Slug of the flow.' })),
    status: Type.Unsafe<(typeof cascadeStatuses)[number]>({
      type: 'string',
      enum: [...cascadeStatuses],
      description: '`solved`, or the outcome of the asset instead.',
    }),
    execution_id: executionId,
    result: Type.Optional(described(facts, 'Outputs of the rule or flow by name.')),
    auto_executed: Type.Boolean({
      description: 'Whether it ran because its inputs had changed, and not because it was asked for.',
    }),
    written_to_context: Type.Optional(described(names, 'Names of facts that the run wrote.')),
    cleared: Type.Optional(clearedFacts),
    error: Type.Optional(Type.String({ description: 'Why it failed, in a sentence; absent if it did not.' })),
  },
  { $id: 'CascadeResult', description: 'The outcome of one asset.' },
);
export type CascadeResult = Static<typeof CascadeResult>;

/** Outcome for the instances of one context that read a changed instance. */
export const ContextCascadeSummary = Type.Object(
  {
    context: Type.String({ description: 'Slug.' }),
    relation: Type.String({ description: 'Name of the relationship.' }),
    instances: Type.Integer({ description: 'Instances that were looked at again.' }),
    executed: Type.Integer({ description: 'Runs of assets.' }),
    skipped: Type.Integer({ description: 'Assets that had nothing new to find.' }),
    evaluation_errors: Type.Integer({ description: 'Assets that could not be evaluated.' }),
    infrastructure_errors: Type.Integer({
      description: 'Assets that could not be run because of a fault of the service.',
    }),
    failed_instance_ids: Type.Optional(
      described(names, 'Ids of instances whose re-evaluation failed; absent if none did.'),
    ),
    execution_degraded: Type.Optional(
      Type.String({ description: 'Why rules could not be run, in a sentence; absent if they could.' }),
    ),
    error: Type.Optional(
      Type.String({ description: 'Why instances could not be looked at again; absent if they could.' }),
    ),
  },
  { $id: 'ContextCascadeSummary', description: 'The re-evaluation of dependent instances of one context.' },
);
export type ContextCascadeSummary = Static<typeof ContextCascadeSummary>;

/** Dependent instances whose re-evaluation failed. */
export const CascadeRejection = Type.Object(
  {
    context: Type.String({ description: 'Slug.' }),
    relation: Type.String({ description: 'Name of the relationship.' }),
    instance_ids: Type.Array(Type.String(), {
      description: 'Instances to submit again with their identity alone; none if they could not even be looked for.',
    }),
    error: Type.String({ description: 'What went wrong, in a sentence.' }),
  },
  { $id: 'CascadeRejection', description: 'Dependent instances that may hold what was decided before.' },
);
export type CascadeRejection = Static<typeof CascadeRejection>;

const cascadeRejections = Type.Optional(
  Type.Array(CascadeRejection, { description: 'One for each context and relation in which something failed.' }),
);

const cascaded = Type.Array(Type.Union([CascadeResult, ContextCascadeSummary]));

const submitted = {
  context: Type.String({ description: '`<slug>:<instance>`' }),
  state: described(facts, 'Facts and derived facts by name.'),
  status: described(status, '`complete` where every required fact has a value, else `pending`.'),
  have: described(names, 'Names of facts that have a value.'),
  need: described(names, 'Names of facts that are still needed; empty if the instance is complete.'),
  is_new: Type.Boolean({ description: 'Whether the request made the instance.' }),
  triggered: Type.Boolean({ description: 'Whether any bound asset ran.' }),
  reason: Type.Optional(Type.String({ description: 'Why nothing was triggered; absent if something was.' })),
  expires_at: described(nullable(timestamp), 'When the instance ends, ISO 8601; null: never.'),
  cascaded: described(cascaded, 'The outcome of each bound asset, and of each instance that reads this one.'),
  execution_degraded: Type.Optional(
    Type.String({ description: 'Why rules could not be run, in a sentence; absent if they could.' }),
  ),
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
    context: Type.String({ description: '`<slug>:<instance>`' }),
    state: described(facts, 'Facts and derived facts by name.'),
    derived: described(facts, 'Derived facts by name.'),
    status: described(status, '`complete` where every required fact has a value, else `pending`.'),
    have: described(names, 'Names of facts that have a value.'),
    need: described(names, 'Names of facts that are still needed; empty if the instance is complete.'),
    executions: Type.Record(Type.String(), ExecutionRecord, {
      description: 'The last run of each bound asset, by `<type>:<slug>`.',
    }),
    relations: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Related instances by the name of the relationship, as far as `include_relations` asks for them.',
    }),
    created_at: described(timestamp, 'When the instance was made, ISO 8601 in UTC.'),
    updated_at: described(timestamp, 'When the instance was last written, ISO 8601 in UTC.'),
    expires_at: described(nullable(timestamp), 'When the instance ends, ISO 8601; null: never.'),
  },
  { $id: 'InstanceAnswer', description: 'One instance.' },
);
export type InstanceAnswer = Static<typeof InstanceAnswer>;

export const GetInstanceQuery = Type.Object(
  {
    include: Type.Optional(
      Type.String({
        maxLength: 500,
        description: 'Accepted for clients that send it, at most 500 characters; changes nothing.',
      }),
    ),
    include_relations: Type.Optional(
      Type.String({ maxLength: 2_000, description: 'Names of relationships, or `true` for all.' }),
    ),
  },
  { $id: 'GetInstanceQuery', additionalProperties: false, description: 'What of the instance.' },
);

export const ListInstancesQuery = Type.Object(
  {
    ...pageQueryFields,
    prefix: Type.Optional(
      Type.String({ maxLength: 512, description: 'Only instances whose ids begin so, at most 512 characters.' }),
    ),
    status: Type.Optional(described(status, 'Only instances of this status.')),
  },
  { $id: 'ListInstancesQuery', additionalProperties: false, description: 'Which instances.' },
);

export const InstanceList = Type.Object(
  {
    data: Type.Array(InstanceAnswer, { description: 'The entries of this page.' }),
    next_cursor: described(
      nullable(Type.String()),
      'Give it as `cursor` to read the next page; null on the last page.',
    ),
  },
  { $id: 'InstanceList', description: 'Instances in the order of their ids.' },
);
export type InstanceList = Static<typeof InstanceList>;

export const DeletedInstance = Type.Object(
  {
    message: Type.String({ description: 'What was done, in a sentence.' }),
    pending_evaluations_cancelled: Type.Integer({ description: 'Registered evaluations that ended with it.' }),
    cascaded: Type.Array(ContextCascadeSummary, {
      description: 'The outcomes of the instances that read it, by context and relationship.',
    }),
    execution_degraded: Type.Optional(
      Type.String({ description: 'Why rules could not be run, in a sentence; absent if they could.' }),
    ),
    cascade_recovery: Type.Optional(
      Type.Object(
        {
          context: Type.String({ description: '`<slug>:<instance>`' }),
          previous_state: described(facts, 'Facts that the instance had, by name.'),
          action: Type.String({ description: 'What to do, in a sentence.' }),
        },
        { description: 'Where dependents could not be re-evaluated: what to do about it.' },
      ),
    ),
  },
  { $id: 'DeletedInstance', description: 'A deleted instance.' },
);
export type DeletedInstance = Static<typeof DeletedInstance>;

export const HistoryQuery = Type.Object(
  {
    field: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'Only the history of this fact, 1 to 200 characters. Default: of all tracked facts.',
      }),
    ),
    limit: Type.Optional(Type.String({ pattern: '^[0-9]{1,5}$', description: '1 to 10,000 entries of each fact.' })),
  },
  { $id: 'HistoryQuery', additionalProperties: false, description: 'Which history.' },
);

export const InstanceHistoryAnswer = Type.Object(
  {
    context: Type.String({ description: '`<slug>:<instance>`' }),
    history: Type.Record(
      Type.String(),
      Type.Array(
        Type.Object(
          {
            timestamp: described(timestamp, 'When the value was committed, ISO 8601 in UTC.'),
            value: Type.Unknown({ description: 'The value.' }),
          },
          { description: 'Newest first.' },
        ),
      ),
      { description: 'Entries of each tracked fact, newest first, by name.' },
    ),
  },
  { $id: 'InstanceHistory', description: 'Committed values of tracked facts.' },
);
export type InstanceHistoryAnswer = Static<typeof InstanceHistoryAnswer>;

const PendingEvaluation = Type.Object(
  {
    type: described(assetType, '`rule` or `flow`.'),
    rule: Type.Optional(Type.String({ description: 'Slug of the rule.' })),
    rule_id: Type.Optional(described(uuid, 'Id of the rule, a UUID; absent if it is bound no longer.')),
    flow: Type.Optional(Type.String({ description: 'Slug of the flow.' })),
    flow_id: Type.Optional(described(uuid, 'Id of the flow, a UUID; absent if it is bound no longer.')),
    waiting_on: Type.Array(ContextWaitingOn, { description: 'Facts that it waits for.' }),
    created_at: described(timestamp, 'When it was registered, ISO 8601 in UTC.'),
    expires_at: described(nullable(timestamp), 'When the registration ends, ISO 8601; null: never.'),
  },
  { $id: 'PendingEvaluation', description: 'An evaluation that waits for facts.' },
);

export const PendingAnswer = Type.Object(
  { pending: Type.Array(PendingEvaluation, { description: 'Evaluations that wait.' }) },
  { $id: 'PendingAnswer', description: 'Registered evaluations of an instance.' },
);
export type PendingAnswer = Static<typeof PendingAnswer>;

export const CascadeRequest = Type.Object({}, { $id: 'CascadeRequest', description: 'Nothing is needed.' });

export const CascadeAnswer = Type.Object(
  {
    context: Type.String({ description: '`<slug>:<instance>`' }),
    cascaded: described(cascaded, 'The outcome of each bound asset, and of each instance that reads this one.'),
    unfinished: remarks.unfinished,
    stopped_by: remarks.stopped_by,
  },
  { $id: 'CascadeAnswer', description: 'The results of the registered evaluations.' },
);
export type CascadeAnswer = Static<typeof CascadeAnswer>;

/** Fields of the answer to a manual solve of both rules and flows. */
const solvedAlike = {
  status: Type.Unsafe<'solved' | 'error' | 'pending'>({
    type: 'string',
    enum: ['solved', 'error', 'pending'],
    description:
      '`solved`; `error` where it could not be evaluated; `pending` where it waits for facts, which is answered with 202.',
  }),
  context: Type.String({ description: '`<slug>:<instance>`' }),
  execution_id: executionId,
  result: Type.Optional(described(facts, 'Outputs by name.')),
  written_to_context: Type.Optional(described(names, 'Names of facts that the run wrote.')),
  cleared: Type.Optional(clearedFacts),
  cascaded: Type.Optional(
    described(cascaded, 'The outcome of each bound asset, and of each instance that reads this one.'),
  ),
  error: Type.Optional(Type.String({ description: 'Why it could not be evaluated; with `error`.' })),
  have: Type.Optional(described(names, 'Names of facts that have a value; with `pending`.')),
  need: Type.Optional(described(names, 'Names of facts that are still needed; with `pending`.')),
  waiting_on: Type.Optional(Type.Array(ContextWaitingOn, { description: 'Facts that it waits for; with `pending`.' })),
  expires_at: Type.Optional(described(nullable(timestamp), 'When the instance ends, ISO 8601; null: never.')),
  cascade_rejections: cascadeRejections,
  ...remarks,
};

export const SolveInstanceAnswer = Type.Object(
  { rule: Type.String({ description: 'Slug of the rule.' }), ...solvedAlike },
  { $id: 'SolveInstanceAnswer', description: 'What the rule decided, or what it waits for.' },
);
export type SolveInstanceAnswer = Static<typeof SolveInstanceAnswer>;

export const SolveInstanceFlowAnswer = Type.Object(
  {
    flow: Type.String({ description: 'Slug of the flow.' }),
    ...solvedAlike,
    usage: Type.Optional(
      Type.Object(
        { executions: Type.Integer({ description: 'Runs of rules and flows bound to this instance; each counts.' }) },
        { description: 'What the call adds to the usage of the workspace, without the instances that read this one.' },
      ),
    ),
  },
  { $id: 'SolveInstanceFlowAnswer', description: 'What the flow decided, or what it waits for.' },
);
export type SolveInstanceFlowAnswer = Static<typeof SolveInstanceFlowAnswer>;

export const BatchQuery = Type.Object(
  {
    include: Type.Optional(
      Type.String({
        maxLength: 1_000,
        description:
          'Fields of results that are answered, comma-separated, at most 1,000 characters. Default: all but `execution_results`; `instance_id` always comes.',
      }),
    ),
  },
  { $id: 'BatchQuery', additionalProperties: false, description: 'Which fields of results.' },
);

export const BatchBody = Type.Array(Type.Unknown(), {
  $id: 'BatchBody',
  description: 'Records: objects of facts, the identity fact among them. Each is checked by itself.',
});

export const BatchAnswer = Type.Object(
  {
    context: Type.String({ description: 'Slug.' }),
    accepted: Type.Integer({ description: 'Records that were merged.' }),
    rejected: Type.Integer({ description: 'Records that were not.' }),
    executed: Type.Integer({ description: 'Runs of rules and flows.' }),
    ignored: Type.Integer({ description: 'Facts of accepted records that were not merged; results say which.' }),
    rejections: Type.Array(BatchRejection, {
      description:
        'All of them, as long as they fit into 8 MiB; otherwise the first ones. An answer of lines (accept: application/x-ndjson) has all of them.',
    }),
    rejections_omitted: Type.Optional(
      Type.Integer({ description: 'Rejections beyond those that are listed; absent if there are none.' }),
    ),
    results: Type.Array(BatchResult, { description: 'One entry for each touched instance.' }),
    cascaded: Type.Array(ContextCascadeSummary, {
      description: 'The outcomes of the instances that read touched ones, by context and relationship.',
    }),
    cascade_rejections: cascadeRejections,
    execution_degraded: Type.Optional(
      Type.String({ description: 'Why rules could not be run, in a sentence; absent if they could.' }),
    ),
    timings: Type.Object(
      {
        total_ms: Type.Integer({ description: 'From the arrival of the request to its answer, milliseconds.' }),
        ingest_ms: Type.Integer({ description: 'Reading, merging and running, milliseconds.' }),
      },
      { description: 'How long the batch took, milliseconds.' },
    ),
  },
  { $id: 'BatchAnswer', description: 'One entry for each touched instance.' },
);
export type BatchAnswer = Static<typeof BatchAnswer>;
