import { type Static, Type } from '@sinclair/typebox';
import { described } from '../../described';
import { FlowConnection, FlowNode } from '../../flows/flow-document';
import { flowFields } from '../../flows/flow-fields';
import { assetFacts, documentSchemas, importSchemas, listedSchemas, published } from '../../rules/asset-fields';
import { RuleDocument, RuleImport } from '../../rules/rule-document';
import { listAssetsQuery } from '../rules/rules';

const nullableText = Type.Union([Type.String(), Type.Null()]);

/** The parts of the graph, which are separate fields of documents in addition to those of the draft. */
const graphFields = {
  nodes: Type.Array(FlowNode, {
    maxItems: 100_000,
    description: 'The nodes, at most 1,000, in an order that decides between equals.',
  }),
  connections: Type.Array(FlowConnection, {
    maxItems: 100_000,
    description: 'The connections between nodes, at most 10,000. Default: none.',
  }),
};

const { id, slug, ...facts } = documentSchemas(assetFacts);
const { name, description, labels, folder, ...otherParts } = documentSchemas(flowFields);

/** A flow as exported: camel case, so that an export can be imported again unchanged. */
export const FlowDocument = Type.Object(
  {
    ...{ id, slug, name, description, labels, folder },
    ...graphFields,
    ...otherParts,
    ...{ published, ...facts },
  },
  { $id: 'FlowDocument', description: 'A flow: its draft, and whether and when it was published.' },
);
export type FlowDocument = Static<typeof FlowDocument>;

/** A flow as imported; the import of a rule works the same, but a flow is published unless `_publish` is false. */
export const FlowImport = Type.Object(
  {
    id: RuleImport.properties.id,
    slug: RuleImport.properties.slug,
    ...importSchemas(flowFields),
    nodes: Type.Optional(graphFields.nodes),
    connections: Type.Optional(graphFields.connections),
    user_groups: RuleImport.properties.user_groups,
    _publish: Type.Optional(
      Type.Boolean({ default: true, description: 'Whether the draft becomes the next version. Default: true.' }),
    ),
    _unpublish: RuleImport.properties._unpublish,
  },
  { $id: 'FlowImport', description: 'A new flow, or the fields of a flow that change.' },
);
export type FlowImport = Static<typeof FlowImport>;

export const ImportFlowRequest = Type.Object(
  {
    flow: FlowImport,
    expected_updated_at: Type.Optional(
      Type.String({
        format: 'date-time',
        description:
          'The `updatedAt` that the caller has seen. The header `if-match` with the `etag` of an export does the same.',
      }),
    ),
  },
  { $id: 'ImportFlowRequest', additionalProperties: false, description: 'The flow to create or change.' },
);
export type ImportFlowRequest = Static<typeof ImportFlowRequest>;

export const ImportFlowAnswer = Type.Object(
  {
    id,
    slug,
    name: Type.String({ description: 'Name for people.' }),
    published,
    version: facts.version,
    updatedAt: facts.updatedAt,
    ignored: RuleDocument.properties.ignored,
  },
  { $id: 'ImportFlowAnswer', description: 'The flow as it is now stored.' },
);
export type ImportFlowAnswer = Static<typeof ImportFlowAnswer>;

/** A flow that the caller identifies by id or slug. */
export const ExportFlowQuery = Type.Object(
  {
    id: Type.Optional(Type.String({ format: 'uuid', description: 'Id of the flow, a UUID.' })),
    slug: Type.Optional(Type.String({ maxLength: 200, description: 'Slug of the flow; read where no id is given.' })),
  },
  { $id: 'ExportFlowQuery', additionalProperties: false, description: 'Which flow to export.' },
);
export type ExportFlowQuery = Static<typeof ExportFlowQuery>;

export const DeleteFlowRequest = Type.Object(
  { id: Type.String({ format: 'uuid', description: 'Id of the flow, a UUID.' }) },
  { $id: 'DeleteFlowRequest', additionalProperties: false, description: 'Which flow to delete.' },
);
export type DeleteFlowRequest = Static<typeof DeleteFlowRequest>;

export const ListedFlow = Type.Object(
  {
    ...listedSchemas({ ...assetFacts, ...flowFields }),
    published,
    no_nodes: Type.Integer({ description: 'Number of nodes.' }),
    origin_rule: Type.Optional(
      Type.Object(
        {
          id: Type.String({ description: 'Id of the rule.' }),
          name: Type.String({ description: 'Name of the rule.' }),
          slug: Type.String({ description: 'Slug of the rule.' }),
        },
        { description: 'The rule whose input the flow takes; absent if the key does not see it.' },
      ),
    ),
  },
  { $id: 'ListedFlow', description: 'A flow without its nodes.' },
);
export type ListedFlow = Static<typeof ListedFlow>;

export const ListFlowsQuery = Type.Object(listAssetsQuery, {
  $id: 'ListFlowsQuery',
  additionalProperties: false,
  description: 'Filters of the flow list.',
});
export type ListFlowsQuery = Static<typeof ListFlowsQuery>;

const FlowPage = Type.Object(
  {
    data: Type.Array(ListedFlow, { description: 'The entries of this page.' }),
    next_cursor: described(nullableText, 'Give it as `cursor` to read the next page; null on the last page.'),
  },
  { $id: 'FlowPage', description: 'One page of flows; `next_cursor` is null on the last.' },
);

/** A bare array if neither `limit` nor `cursor` is given, otherwise a page. */
export const ListFlowsAnswer = Type.Union([Type.Array(ListedFlow), FlowPage], {
  $id: 'ListFlowsAnswer',
  description: 'All flows, or one page of them.',
});
export type ListFlowsAnswer = Static<typeof ListFlowsAnswer>;
