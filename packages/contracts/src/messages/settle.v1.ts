import { type Static, Type } from '@sinclair/typebox';
import { type AssetKind, assetKinds } from '../asset-pointer';
import { ExecutionRecord } from '../contexts/context-answers';
import { definitionDefaults, definitionSettings, type DefinitionValues } from '../contexts/context-settings';
import { type ExecutionStatus, executionStatuses, type RelationType, relationTypes } from '../contexts/context-words';
import { PackedExecution, packExecutions, unpackExecutions } from '../contexts/packed-executions';
import { parseJson } from '../json/parse-json';
import { ServiceError } from '../service-error';
import { messageFields } from '../settings';
import { compileValidator } from '../validator';

/**
 * The value of a `solution` message of kind `settle`, version 1: complete operations on instances of one context, with everything that
 * determines their results. Its answer has the result for each instance, in the same order. The sender writes the results; the worker writes
 * nothing.
 */

const facts = Type.Record(Type.String(), Type.Unknown());
const executions = Type.Record(Type.String(), ExecutionRecord);
const assetType = Type.Unsafe<AssetKind>({ type: 'string', enum: [...assetKinds] });

const SettleContext = Type.Object({
  id: Type.String(),
  slug: Type.String(),
  ...messageFields(definitionSettings),
});

const SettleRelationship = Type.Object({
  id: Type.String(),
  name: Type.String(),
  type: Type.Unsafe<RelationType>({ type: 'string', enum: [...relationTypes] }),
  fromContextId: Type.String(),
  toContextId: Type.String(),
  foreignKeyFact: Type.String(),
});

const SettleAsset = Type.Object({
  type: assetType,
  /** Absent: the sender does not provide it. */
  id: Type.Optional(Type.String()),
  slug: Type.String(),
  /** For a rule, the id of its version; for a flow, a name of its version and of those that it follows. */
  effectiveVersion: Type.String(),
  inputs: Type.Array(Type.Object({ key: Type.String(), hasDefault: Type.Boolean() })),
  outputs: Type.Array(Type.String()),
  /** Only for flows. */
  flow: Type.Optional(
    Type.Object({
      versionId: Type.String(),
      /** Versions of the rules that it follows, by `<slug>/<selector>`. */
      follows: Type.Record(Type.String(), Type.String()),
      reachesOut: Type.Boolean(),
    }),
  ),
});

const SettleInstance = Type.Object({
  instanceId: Type.String(),
  /** Creation time: together with the id it identifies one life of the instance. Absent: the sender does not support flows. */
  createdAt: Type.Optional(Type.String()),
  facts,
  executions,
  /** One instance or null, or a list, by the name of the relationship. */
  related: Type.Record(Type.String(), Type.Union([facts, Type.Null(), Type.Array(facts)])),
  /** Results of aggregates over relationships, by the name of the relationship and the key of the aggregate. */
  aggregates: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Object({
        instances: Type.Integer(),
        /** Bytes of the list if it is too large to be in `related`. */
        listBytes: Type.Optional(Type.Integer()),
        answers: Type.Record(
          Type.String(),
          Type.Union([
            Type.Object({ value: Type.Unknown() }),
            Type.Object({ error: Type.Object({ code: Type.String(), message: Type.String() }) }),
          ]),
        ),
      }),
    ),
  ),
  /** Committed entries by fact, newest first; times in epoch ms. */
  history: Type.Record(Type.String(), Type.Array(Type.Object({ timestamp: Type.Number(), value: Type.Unknown() }))),
  /** Keys of the only assets to consider; absent: all. */
  only: Type.Optional(Type.Array(Type.String())),
  /** Key of an asset that runs once even if nothing changed. */
  forced: Type.Optional(Type.String()),
});
export type SettleInstance = Static<typeof SettleInstance>;

const SettleRequest = Type.Object(
  {
    v: Type.Literal(1),
    /** Identifies this state of the workspace's definitions: a cache key for compiled forms. */
    revision: Type.String(),
    contextId: Type.String(),
    /** The operation that holds the instances. Absent: the sender is of the previous release. */
    operationId: Type.Optional(Type.String()),
    /** The context and those to which it is related, directly or through others. */
    contexts: Type.Array(SettleContext),
    relationships: Type.Array(SettleRelationship),
    assets: Type.Array(SettleAsset),
    /** Members of collections of values, by name. */
    collections: Type.Record(Type.String(), Type.Array(Type.Unknown())),
    /** Epoch ms: the one clock of all formulas and rules. */
    now: Type.Number(),
    /** Whether the sender reads packed executions in the answer. Absent: it is of the previous release. */
    readsPacked: Type.Optional(Type.Boolean()),
    instances: Type.Array(SettleInstance),
  },
  { $id: 'SettleRequest', description: 'Complete operations on instances of one context.' },
);
type ReceivedRequest = Static<typeof SettleRequest>;

/** A complete context of a request: settings that the sender does not know yet have their defaults. */
interface SettleDefinition extends DefinitionValues {
  readonly id: string;
  readonly slug: string;
}
export interface SettleRequest extends Omit<ReceivedRequest, 'contexts'> {
  readonly contexts: readonly SettleDefinition[];
}

const SettleRun = Type.Object({
  type: assetType,
  slug: Type.String(),
  status: Type.Unsafe<ExecutionStatus>({ type: 'string', enum: [...executionStatuses] }),
  unavailable: Type.Optional(Type.Boolean()),
  error: Type.Optional(Type.String()),
  executionId: Type.Optional(Type.String()),
  result: Type.Optional(facts),
  written: Type.Optional(Type.Array(Type.String())),
  cleared: Type.Optional(Type.Array(Type.String())),
});

const settleEnds = ['fixpoint', 'repeated_state', 'memory_bound', 'deadline'] as const;

/** A notification requested by a flow; it is written in the transaction that writes the result of the instance. */
const SettledNotification = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 100 }),
  channel: Type.String(),
  content: Type.String(),
});
export type SettledNotification = Static<typeof SettledNotification>;

const SettledInstance = Type.Object({
  facts,
  executions,
  runs: Type.Array(SettleRun),
  ended: Type.Unsafe<(typeof settleEnds)[number]>({ type: 'string', enum: [...settleEnds] }),
  unfinished: Type.Array(Type.String()),
  degraded: Type.Optional(Type.String()),
  anyReady: Type.Boolean(),
  /** Rounds in which assets ran. Absent: its sender is of the previous release. */
  rounds: Type.Optional(Type.Integer({ minimum: 0 })),
  /** In the order in which the flows ran. Absent: none. */
  notifications: Type.Optional(Type.Array(SettledNotification)),
});
export type SettledInstance = Static<typeof SettledInstance>;

const SettleAnswer = Type.Object({
  v: Type.Literal(1),
  instances: Type.Array(
    Type.Composite([
      Type.Omit(SettledInstance, ['executions']),
      Type.Object({ executions: Type.Record(Type.String(), PackedExecution) }),
    ]),
  ),
});

const checkRequest = compileValidator(SettleRequest);
const checkAnswer = compileValidator(SettleAnswer);

const toDefinition = (received: ReceivedRequest['contexts'][number]): SettleDefinition => ({
  ...definitionDefaults,
  ...received,
});

/** Encodes requests that share everything except their instances, which are JSON text already. */
export const createSettleEncoder = (
  common: Omit<SettleRequest, 'v' | 'instances'>,
): ((instances: readonly string[]) => Buffer) => {
  const head = `${JSON.stringify({ v: 1, readsPacked: true, ...common }).slice(0, -1)},"instances":[`;
  return (instances) => Buffer.from(`${head}${instances.join(',')}]}`);
};

/** Decodes a request. Throws `internal_error` if it is not of this version. */
export const decodeSettleRequest = (value: Buffer): SettleRequest => {
  const parsing = parseJson(value.toString('utf8'));
  const checked = checkRequest(parsing.ok ? parsing.value : undefined);
  if (checked.ok) return { ...checked.value, contexts: checked.value.contexts.map(toDefinition) };
  throw new ServiceError('internal_error', 'The operation is of a version that this worker does not know.');
};

/** Encodes an answer to a request; undefined members are omitted. */
export const encodeSettleAnswer = (
  instances: readonly SettledInstance[],
  { readsPacked = false }: Pick<SettleRequest, 'readsPacked'>,
): Buffer => {
  const pack = (one: SettledInstance) => ({ ...one, executions: packExecutions(one.executions) });
  return Buffer.from(JSON.stringify({ v: 1, instances: readsPacked ? instances.map(pack) : instances }));
};

/** Decodes an answer. Throws `internal_error` if it is not of this version. */
export const decodeSettleAnswer = (value: Buffer): readonly SettledInstance[] => {
  const parsing = parseJson(value.toString('utf8'));
  const checked = checkAnswer(parsing.ok ? parsing.value : undefined);
  if (checked.ok)
    return checked.value.instances.map((one) => ({ ...one, executions: unpackExecutions(one.executions) }));
  throw new ServiceError('internal_error', 'The worker answered an operation in a way that cannot be read.');
};
