import { type Static, Type } from '@sinclair/typebox';

/** Types of nodes, by their canonical names. */
export const flowNodeTypes = [
  'origin',
  'rule',
  'flow',
  'ifelse',
  'foreach',
  'aggregate',
  'result',
  'lookup',
  'code',
  'api',
  'db',
  'soap',
  'ai',
  'vault',
  'entity',
  'notification',
] as const;
export type FlowNodeType = (typeof flowNodeTypes)[number];

/** Alternative names of each type. */
export const flowNodeAliases: Readonly<Record<FlowNodeType, readonly string[]>> = {
  origin: ['input', 'flow_input'],
  rule: [],
  flow: ['subflow', 'run_flow', 'runflow'],
  ifelse: ['continue_if', 'continueif'],
  foreach: ['for_each', 'foreachitem'],
  aggregate: ['combine_items', 'combineitems'],
  result: ['result_object'],
  lookup: ['lookup_table'],
  code: ['run_code'],
  api: ['api_request'],
  db: ['database_query'],
  soap: ['soap_request'],
  ai: ['ai_inference'],
  vault: [],
  entity: ['context_operation', 'entityoperation'],
  notification: ['send_notification'],
};

/** Types of a value that an output of a node declares. */
export const flowValueTypes = ['string', 'number', 'boolean', 'date', 'list', 'object', 'any'] as const;
export type FlowValueType = (typeof flowValueTypes)[number];

const valueType = Type.Unsafe<FlowValueType>({
  type: 'string',
  enum: [...flowValueTypes],
  description: 'Type of the value. Default: any.',
});

/** One output that a node declares. */
export const FlowOutput = Type.Object(
  {
    key: Type.String({ minLength: 1, maxLength: 512, description: 'Name of the output; dots read nested objects.' }),
    type: Type.Optional(valueType),
    name: Type.Optional(Type.Union([Type.String(), Type.Null()], { description: 'Name for people.' })),
  },
  { $id: 'FlowOutput', description: 'An output that a node declares.' },
);
export type FlowOutput = Static<typeof FlowOutput>;

/** The condition of an `ifelse` node, or of a filter of an `aggregate` node. */
export const FlowCondition = Type.Object(
  {
    property: Type.Optional(
      Type.String({ maxLength: 512, description: 'The input that is asked about. Default: the only one.' }),
    ),
    operator: Type.Optional(
      Type.String({ description: 'An operator of the type of the input, `truthy` or `falsy`. Default: is true.' }),
    ),
    args: Type.Optional(Type.Array(Type.Unknown(), { description: 'Arguments of the operator. Default: none.' })),
  },
  { $id: 'FlowCondition', description: 'A condition on one input of a node.' },
);
export type FlowCondition = Static<typeof FlowCondition>;

/** A node: the reader of the flow checks the fields of each type besides `ref` and `type`, and names node and field. */
export const FlowNode = Type.Object(
  {
    ref: Type.String({ minLength: 1, maxLength: 200, description: 'Name of the node, unique in its flow.' }),
    type: Type.String({ description: 'Type of the node, by its name or an alias.' }),
  },
  { $id: 'FlowNode', description: 'A node of a flow, with the fields of its type.', additionalProperties: true },
);
export type FlowNode = Static<typeof FlowNode> & Readonly<Record<string, unknown>>;

/** A connection carries a value from an output to an input, or, with `control`, lets a condition gate a node. */
export const FlowConnection = Type.Object(
  {
    from: Type.String({ description: 'Ref of the node where it begins.' }),
    to: Type.String({ description: 'Ref of the node where it ends.' }),
    output: Type.Optional(Type.String({ description: 'The output whose value it carries.' })),
    input: Type.Optional(
      Type.String({ description: 'The input that takes the value. Default: the name of the output.' }),
    ),
    control: Type.Optional(Type.Boolean({ description: 'Whether it is a gate and carries nothing. Default: false.' })),
  },
  { $id: 'FlowConnection', description: 'A connection between two nodes of a flow.' },
);
export type FlowConnection = Static<typeof FlowConnection>;

/** The part of a flow document that determines answers. */
export const FlowGraph = Type.Object(
  {
    nodes: Type.Array(FlowNode, {
      maxItems: 100_000,
      description: 'The nodes, in an order that decides between equals.',
    }),
    connections: Type.Optional(
      Type.Array(FlowConnection, { maxItems: 100_000, description: 'The connections between nodes. Default: none.' }),
    ),
  },
  { $id: 'FlowGraph', description: 'Nodes and connections: everything that decides an answer.' },
);
export interface FlowGraph {
  readonly nodes: readonly FlowNode[];
  readonly connections?: readonly FlowConnection[] | undefined;
}
