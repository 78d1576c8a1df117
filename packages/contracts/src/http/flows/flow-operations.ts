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

const nodes = [
  { ref: 'parcel', type: 'origin', rule: 'parcel-price' },
  { ref: 'answer', type: 'result' },
];
const connections = [{ from: 'parcel', output: 'price', to: 'answer' }];
const stored = {
  id: '7c1b0a52-1f63-4d3e-9a55-0c6f3b2e8d10',
  slug: 'parcel-quote',
  name: 'Parcel quote',
  published: true,
  version: 1,
  updatedAt: '2026-01-15T09:30:00.000Z',
};

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
        ...{ id: stored.id, slug: stored.slug, name: stored.name, description: null, labels: [], metadata: {} },
        ...{ created_at: stored.updatedAt, updated_at: stored.updatedAt, published: true, version: 1, user_groups: [] },
        request_schema: [{ key: 'weight', show: true, name: 'Weight', description: null, type: 'number' }],
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
    example: {
      ...stored,
      ...{ description: null, labels: [], folder: null, nodes, connections, settings: {}, testSuite: [] },
      ...{ sampleRequest: null, sampleResponse: null, testRequest: null, metadata: {}, context: null },
      ...{ publishedAt: stored.updatedAt, createdAt: stored.updatedAt, updatedBy: null },
    },
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
    example: { flow: { name: 'Parcel quote', slug: 'parcel-quote', nodes, connections } },
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
    description: 'The flow is gone and no longer solved.',
    schema: Message,
    example: { message: 'Flow "parcel-quote" was deleted.' },
  },
  errors: ['flow_not_found', 'flow_released', 'flow_bound'],
} as const satisfies Operation;

export const flowOperations = [listFlows, exportFlow, importFlow, deleteFlow];
