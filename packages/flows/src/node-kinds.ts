import {
  FlowCondition,
  flowNodeAliases,
  flowNodeTypes,
  type FlowNodeType,
  FlowOutput,
  type FlowValueType,
  flowValueTypes,
} from '@decision/contracts';
import { type TObject, type TProperties, Type } from '@sinclair/typebox';

/** Inputs and outputs of a node type, and its fields besides `ref`, `type` and `name`. */
export interface NodeKind {
  /** `none`; `any`: every name; `fields`: the input fields of the asset that it runs; or the only name that it accepts. */
  readonly inputs: 'none' | 'any' | 'fields' | { readonly only: string };
  /** Outputs that every node of the type has. */
  readonly outputs: Readonly<Record<string, FlowValueType>>;
  /** Whether a condition may gate it. */
  readonly isGateable: boolean;
  /** Whether it reaches out, and therefore answers later. */
  readonly reachesOut: boolean;
  /** Whether secrets from a vault may be its inputs. */
  readonly holdsSecrets: boolean;
  readonly fields: TObject;
}

const aggregationOperators = ['sum', 'average', 'min', 'max', 'count', 'list', 'first', 'last'] as const;
export type AggregationOperator = (typeof aggregationOperators)[number];

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const oneOf = <T extends string>(values: readonly T[]) => Type.Unsafe<T>({ type: 'string', enum: [...values] });
const optional = <P extends TProperties>(properties: P) => Type.Partial(Type.Object(properties)).properties;

const version = Type.Union([Type.Integer({ minimum: 1 }), text(200)]);
const caching = optional({ useCache: Type.Boolean(), cacheExpiration: Type.Number(), cacheKey: Type.String() });
const outputs = optional({ outputs: Type.Array(FlowOutput, { maxItems: 1_000 }) });
const record = Type.Record(Type.String(), Type.Unknown());
/** Failure handling of a node that reaches out: the number of retries, and the effect on the flow. */
const resilience = optional({
  timeoutMs: Type.Integer({ minimum: 1, maximum: 3_600_000 }),
  retries: Type.Integer({ minimum: 0, maximum: 5 }),
  onError: oneOf(['fail', 'continue', 'default']),
  defaultOutputs: record,
});

/** An object without other members: otherwise a misspelt one would be noticed only when nobody is notified. */
const closed = (required: TProperties, more: TProperties = {}) =>
  Type.Object({ ...required, ...optional(more) }, { additionalProperties: false });
/** Optional members of the channels of a notification; an address may be a template. */
const webhook = { headers: Type.Record(Type.String(), Type.String({ maxLength: 16_384 })), secret: text(100) };
const webAddress = Type.String({ maxLength: 8_192, pattern: '^https?://[^/]' });
const mailAddress = Type.String({ maxLength: 320, pattern: '\\{\\{|^[^\\s@]+@[^\\s@]+$' });
const email = { from: mailAddress, replyTo: mailAddress };
const recipients = Type.Array(mailAddress, { minItems: 1, maxItems: 20 });

const kind = (properties: TProperties, rest: Partial<Omit<NodeKind, 'fields'>> = {}): NodeKind => ({
  inputs: 'any',
  outputs: {},
  isGateable: true,
  reachesOut: false,
  holdsSecrets: false,
  ...rest,
  fields: Type.Object(properties),
});

const outside = (properties: TProperties, rest: Partial<Omit<NodeKind, 'fields'>> = {}): NodeKind =>
  kind({ ...properties, ...resilience }, { reachesOut: true, ...rest });

/** Every type of node; docs/specs/flows.md defines each. */
export const nodeKinds: Readonly<Record<FlowNodeType, NodeKind>> = {
  origin: kind({ rule: text(400), ...optional({ version }) }, { inputs: 'none', isGateable: false }),
  rule: kind({ rule: text(400), ...optional({ version }) }, { inputs: 'fields' }),
  flow: kind({ flow: text(400), ...optional({ version }), ...outputs, ...caching }, { inputs: 'fields' }),
  ifelse: kind({ condition: FlowCondition }),
  foreach: kind({ ...outputs }, { inputs: { only: 'list' }, outputs: { item: 'any', index: 'number' } }),
  aggregate: kind(
    optional({
      mode: oneOf(['fields', 'items']),
      aggregations: Type.Record(Type.String(), Type.Object(optional({ operator: oneOf(aggregationOperators) }))),
      filters: Type.Array(FlowCondition, { maxItems: 100 }),
    }),
  ),
  result: kind(
    optional({
      key: Type.String({ maxLength: 512 }),
      immediateExit: Type.Boolean(),
      keyMappings: Type.Record(Type.String(), text(512)),
      customExitData: Type.String({ maxLength: 1_000_000 }),
    }),
  ),
  lookup: kind(
    {
      table: Type.Array(Type.Object({ key: Type.Unknown(), value: Type.Unknown() }), { maxItems: 100_000 }),
      ...optional({ keyType: oneOf(flowValueTypes), valueType: oneOf(flowValueTypes), defaultValue: Type.Unknown() }),
    },
    { inputs: { only: 'lookup' }, outputs: { value: 'any' } },
  ),
  code: outside({ code: text(100_000), ...outputs }, { holdsSecrets: true }),
  api: outside(
    {
      url: text(8_192),
      ...optional({
        method: text(20),
        headers: Type.Unknown(),
        body: Type.Unknown(),
        jsonPaths: Type.Unknown(),
        extractPaths: Type.Boolean(),
      }),
      ...outputs,
      ...caching,
    },
    { holdsSecrets: true, outputs: { status: 'number', body: 'any' } },
  ),
  db: outside(
    {
      connectionString: text(8_192),
      query: text(100_000),
      ...optional({ readOnly: Type.Boolean() }),
      ...outputs,
      ...caching,
    },
    { holdsSecrets: true, outputs: { rows: 'list' } },
  ),
  soap: outside(
    { wsdlUrl: text(8_192), ...optional({ operation: text(512), headers: Type.Unknown() }), ...outputs },
    { holdsSecrets: true, outputs: { response: 'any' } },
  ),
  ai: outside({
    labels: Type.Array(
      Type.Object({ name: text(200), ...optional({ type: oneOf(flowValueTypes), description: Type.String() }) }),
      { minItems: 1, maxItems: 100 },
    ),
    ...optional({ model: text(200), prompt: Type.String({ maxLength: 100_000 }) }),
  }),
  vault: outside(
    {
      secrets: Type.Array(Type.Object({ name: text(512) }), { minItems: 1, maxItems: 100 }),
      ...optional({ provider: text(100), credentials: record }),
    },
    { inputs: 'none', isGateable: false },
  ),
  entity: outside(
    {
      entitySlug: text(200),
      ...optional({
        operation: oneOf(['read', 'update', 'delete', 'batch_update']),
        identityFieldKey: text(512),
        selectedUpdateFields: Type.Record(Type.String(), Type.Boolean()),
        updateValues: record,
        includeRelations: Type.Record(Type.String(), Type.Boolean()),
      }),
      ...outputs,
    },
    { outputs: { state: 'object', results: 'list' } },
  ),
  notification: outside({
    channels: Type.Object(
      optional({
        webhook: closed({ url: webAddress }, webhook),
        email: closed({ to: recipients }, email),
        slack: closed({ url: webAddress }),
      }),
      { minProperties: 1, additionalProperties: false },
    ),
    ...optional({
      titleTemplate: Type.String({ maxLength: 10_000 }),
      messageTemplate: Type.String({ maxLength: 100_000 }),
    }),
  }),
};

const byName: ReadonlyMap<string, FlowNodeType> = new Map(
  flowNodeTypes.flatMap((type) => [type, ...flowNodeAliases[type]].map((name) => [name, type] as const)),
);

/** Aliases of types. */
export const knownTypeNames: readonly string[] = [...byName.keys()];

/** The type with a name or alias. */
export const typeNamed = (name: string): FlowNodeType | undefined => byName.get(name);
