import { type Static, Type } from '@sinclair/typebox';
import { type AssetKind, assetKinds } from '../asset-pointer';
import {
  type ExecutionStatus,
  executionStatuses,
  type InstanceStatus,
  instanceStatuses,
  type UntriggeredReason,
  untriggeredReasons,
} from './context-words';
import { described } from '../described';

const names = Type.Array(Type.String());
const moment = Type.String({ format: 'date-time' });
const jsonObject = Type.Record(Type.String(), Type.Unknown());
const status = Type.Unsafe<InstanceStatus>({ type: 'string', enum: [...instanceStatuses] });

/** Facts that a run cleared; see C66 of docs/specs/contexts.md. */
export const clearedFacts = Type.Array(Type.String(), {
  description: 'Facts that lost their value: the asset had written them itself and did not answer them again.',
});

/** A fact of a request that was not merged; see C22 of docs/specs/contexts.md. */
const IgnoredFact = Type.Object(
  {
    fact: Type.String({ description: 'Name of the fact.' }),
    reason: Type.String({ description: 'Why it was not merged, in a sentence.' }),
  },
  { $id: 'IgnoredFact', description: 'A fact that was not merged, and why.' },
);
type IgnoredFact = Static<typeof IgnoredFact>;

/** Optional fields of an answer: facts that were not merged, and unfinished work. */
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

/** Missing facts and relations for which one registered evaluation is waiting. */
export const ContextWaitingOn = Type.Object(
  {
    context: Type.String({ description: 'Slug.' }),
    instance: Type.String({ description: 'Id of the instance.' }),
    fields: described(names, 'Names of the facts that are missing.'),
    relation: Type.Optional(
      Type.String({
        description: 'Name of the relationship through which they are read; absent for facts of the instance itself.',
      }),
    ),
    dependentDerivedFields: Type.Optional(described(names, 'Derived facts that need the missing ones.')),
  },
  { $id: 'ContextWaitingOn', description: 'Facts that an asset waits for.' },
);
export type ContextWaitingOn = Static<typeof ContextWaitingOn>;

/** Durable metadata of one bound asset on one instance; see C70. */
export const ExecutionRecord = Type.Object(
  {
    type: Type.Unsafe<AssetKind>({ type: 'string', enum: [...assetKinds], description: '`rule` or `flow`.' }),
    slug: Type.String({ description: 'Slug of the asset.' }),
    status: Type.Unsafe<ExecutionStatus>({
      type: 'string',
      enum: [...executionStatuses],
      description: 'How the last run ended, or why there was none.',
    }),
    effective_version: Type.String({ description: 'Id of the version that ran.' }),
    input_hash: Type.String({ description: 'SHA-256 of its inputs, base64url.' }),
    run_count: Type.Integer({ minimum: 1, description: 'Runs so far, from 1.' }),
    failure_count: Type.Optional(
      Type.Integer({ minimum: 1, description: 'How many of them failed; absent if none did.' }),
    ),
    timestamp: described(moment, 'When it last ran, ISO 8601 in UTC.'),
    written_to_context: described(names, 'Names of facts that the run wrote.'),
    owned_facts: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Facts that this asset wrote and that have not been given or written since: its next run clears those that it does not answer again.',
      }),
    ),
    error: Type.Optional(Type.String({ description: 'Why it failed, in a sentence; absent if it did not.' })),
    last_success: Type.Optional(
      Type.Object(
        {
          effective_version: Type.String({ description: 'Id of the version that ran.' }),
          input_hash: Type.String({ description: 'SHA-256 of its inputs, base64url.' }),
        },
        { description: 'The last run that succeeded; absent if none did.' },
      ),
    ),
  },
  { $id: 'ExecutionRecord', description: 'The last run of one bound asset.' },
);
export type ExecutionRecord = Static<typeof ExecutionRecord>;

export const BatchRejection = Type.Object(
  {
    position: Type.Integer({ minimum: 0, description: 'Place of the record in the batch, from 0.' }),
    error: Type.String({ description: 'Why it was not merged, in a sentence.' }),
  },
  { $id: 'BatchRejection', description: 'A record that was not merged.' },
);
export type BatchRejection = Static<typeof BatchRejection>;

export const ExecutedAsset = Type.Object(
  {
    type: Type.Unsafe<AssetKind>({ type: 'string', enum: [...assetKinds], description: '`rule` or `flow`.' }),
    slug: Type.String({ description: 'Slug of the asset.' }),
    status: Type.Unsafe<ExecutionStatus>({
      type: 'string',
      enum: [...executionStatuses],
      description: 'How the run ended, or why there was none.',
    }),
    execution_id: Type.Optional(Type.String({ description: 'Id of the run; absent if there was none.' })),
    error: Type.Optional(Type.String({ description: 'Why it failed, in a sentence; absent if it did not.' })),
    result: Type.Optional(Type.Unknown({ description: 'What it answered; absent if it did not.' })),
    written_to_context: Type.Optional(described(names, 'Names of facts that the run wrote.')),
    cleared: Type.Optional(clearedFacts),
  },
  { $id: 'ExecutedAsset', description: 'The outcome of one bound asset.' },
);
export type ExecutedAsset = Static<typeof ExecutedAsset>;

/** Optional fields of a batch result, selected by `include`; `instance_id` is always present. */
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
    instance_id: Type.String({ description: 'Id of the instance.' }),
    positions: Type.Optional(
      Type.Array(Type.Integer({ minimum: 0 }), {
        description: 'Places in the batch of the records of this instance, from 0.',
      }),
    ),
    is_new: Type.Optional(Type.Boolean({ description: 'Whether the request made the instance.' })),
    status: Type.Optional(described(status, '`complete` where every required fact has a value, else `pending`.')),
    have: Type.Optional(described(names, 'Names of facts that have a value.')),
    need: Type.Optional(described(names, 'Names of facts that are still needed; empty if the instance is complete.')),
    state: Type.Optional(described(jsonObject, 'Facts and derived facts by name.')),
    expires_at: Type.Optional(
      Type.Union([moment, Type.Null()], { description: 'When the instance ends, ISO 8601; null: never.' }),
    ),
    executions: Type.Optional(
      Type.Record(Type.String(), ExecutionRecord, {
        description: 'The last run of each bound asset, by `<type>:<slug>`.',
      }),
    ),
    executed: Type.Optional(Type.Array(ExecutedAsset, { description: 'The outcome of each bound asset.' })),
    triggered: Type.Optional(Type.Boolean({ description: 'Whether any bound asset ran.' })),
    reason: Type.Optional(
      Type.Unsafe<UntriggeredReason>({
        type: 'string',
        enum: [...untriggeredReasons],
        description: 'Why nothing was triggered; absent if something was.',
      }),
    ),
    ...remarks,
  },
  { $id: 'BatchResult', description: 'One touched instance.' },
);
export type BatchResult = Static<typeof BatchResult>;
