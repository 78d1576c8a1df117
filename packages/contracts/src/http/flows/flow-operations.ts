import { flowFields } from '../../flows/flow-fields';
import { assetFacts, documentExample, listedExample } from '../../rules/asset-fields';
import { type Operation } from '../operation';
import { Message } from '../rules/rules';
import {
  DeleteFlowRequest,
  ExportFlowQuery,
  FlowDocument,
  ImportFlowAnswer,
  ImportFlowRequest,
  ListFlowsAnswer,
  ListFlowsQuery,
} from './flows';

const shared = { service: 'objects-api', tag: 'Flows', pathParameters: [] } as const;

const { nodes, connections } = flowFields.graph.example;
const identity = { id: '7c1b0a52-1f63-4d3e-9a55-0c6f3b2e8d10', slug: 'parcel-quote' };
const facts = { ...documentExample(assetFacts), ...identity };
const draft = documentExample(flowFields);
const { id, slug, version, updatedAt } = facts;
const stored = { id, slug, name: draft.name, published: true, version, updatedAt };

export const listFlows = {
  ...shared,
  id: 'listFlows',
  method: 'get',
  path: '/api/v1/admin/flows/list',
  summary: 'List flows',
  description: 'A bare array where neither `limit` nor `cursor` is given, else one page.',
  entitlement: 'rules.read',
  query: ListFlowsQuery,
  success: {
    status: 200,
    description: 'The flows that the key may see.',
    schema: ListFlowsAnswer,
    example: [
      {
        ...listedExample({ ...assetFacts, ...flowFields }),
        ...identity,
        published: true,
        no_nodes: 2,
        origin_rule: { id: '5f9c1f4e-7f4b-4c55-8a49-2f7f0a8f1d11', name: 'Parcel price', slug: 'parcel-price' },
      },
    ],
  },
  errors: ['flow_not_found', 'flow_not_published', 'version_not_found', 'environment_not_found'],
} as const satisfies Operation;

export const exportFlow = {
  ...shared,
  id: 'exportFlow',
  method: 'get',
  path: '/api/v1/admin/flows/export',
  summary: 'Export a flow',
  description:
    'The draft with everything that an import takes. Imported again with `_publish: false`, it changes nothing.',
  entitlement: 'rules.read',
  query: ExportFlowQuery,
  success: {
    status: 200,
    description: 'The flow document, as it can be imported. The header `etag` names this state of the draft.',
    schema: FlowDocument,
    example: { ...facts, ...draft, nodes, connections, published: true },
  },
  errors: ['flow_not_found'],
} as const satisfies Operation;

export const importFlow = {
  ...shared,
  id: 'importFlow',
  method: 'post',
  path: '/api/v1/admin/flows/import',
  summary: 'Create or change a flow, and publish it',
  description:
    'A known `id` makes a partial update, an unknown one creates the flow under that id, none makes id and slug. The whole document is ' +
    'checked, and every problem is answered at once with the `ref` and the `field` that it is about. The draft becomes the next version, unless `_publish` is ' +
    'false; `_unpublish: true` takes the flow out of service, unless a release of it waits or is live.',
  entitlement: 'rules.write',
  body: {
    schema: ImportFlowRequest,
    large: true,
    description: 'The flow.',
    example: { flow: { name: draft.name, slug, nodes, connections } },
  },
  success: {
    status: 200,
    description: 'The flow as it is now stored.',
    schema: ImportFlowAnswer,
    example: stored,
  },
  errors: [
    'flow_invalid',
    'slug_taken',
    'flow_released',
    'tests_failed',
    'deadline_exceeded',
    'flow_stale',
    'flow_not_found',
  ],
} as const satisfies Operation;

export const deleteFlow = {
  ...shared,
  id: 'deleteFlow',
  method: 'delete',
  path: '/api/v1/admin/flows/delete',
  summary: 'Delete a flow with all its versions',
  description:
    'Refused while a release of the flow waits or is live. Flows that run one of its versions go on running that version.',
  entitlement: 'rules.write',
  body: { schema: DeleteFlowRequest, description: 'Which flow.', example: { id: stored.id } },
  success: {
    status: 200,
    description: 'The flow was deleted and is no longer solved.',
    schema: Message,
    example: { message: 'Flow "parcel-quote" was deleted.' },
  },
  errors: ['flow_not_found', 'flow_released', 'flow_bound'],
} as const satisfies Operation;

export const flowOperations = [listFlows, exportFlow, importFlow, deleteFlow];
