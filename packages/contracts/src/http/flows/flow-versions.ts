import { type Static, Type } from '@sinclair/typebox';
import { type Operation } from '../operation';
import { diffRule, listRuleVersions, publishRuleVersion } from '../rules/rule-operations';
import { change, DiffRuleQuery, ListRuleVersionsQuery, RuleVersionPage } from '../rules/rule-versions';
import { FlowConnection, FlowNode } from '../../flows/flow-document';
import { exportFlow } from './flow-operations';
import { FlowDocument } from './flows';

export const FlowDiff = Type.Object(
  {
    flow: Type.String({ description: 'Slug of the flow.' }),
    from: Type.String({ description: '`draft` or the number of a version.' }),
    to: Type.String({ description: '`draft` or the number of a version.' }),
    nodes: Type.Object(
      {
        added: Type.Array(FlowNode, { description: 'Nodes that are new.' }),
        removed: Type.Array(FlowNode, { description: 'Removed nodes.' }),
        changed: Type.Array(
          Type.Object({
            ref: Type.String({ description: '`ref` of the node.' }),
            changes: Type.Array(Type.Object({ field: Type.String({ description: 'Field of the node.' }), ...change }), {
              description: 'Fields of the node that differ.',
            }),
          }),
          { description: 'Nodes whose fields differ.' },
        ),
        moved: Type.Array(Type.String(), {
          description:
            '`ref`s of nodes that stand elsewhere among those that both have; their order decides between equals.',
        }),
        counts: Type.Object(
          {
            added: Type.Integer({ description: 'Nodes that are new.' }),
            removed: Type.Integer({ description: 'Removed nodes.' }),
            changed: Type.Integer({ description: 'Nodes whose fields differ.' }),
            moved: Type.Integer({ description: 'Nodes that stand elsewhere.' }),
          },
          { description: 'How many nodes differ, those that are not listed among them.' },
        ),
      },
      { description: 'Nodes that differ, recognised by their `ref`; at most 1,000 in each list.' },
    ),
    connections: Type.Object(
      {
        added: Type.Array(FlowConnection, { description: 'Connections that are new.' }),
        removed: Type.Array(FlowConnection, { description: 'Removed connections.' }),
        counts: Type.Object(
          {
            added: Type.Integer({ description: 'Connections that are new.' }),
            removed: Type.Integer({ description: 'Removed connections.' }),
          },
          { description: 'How many connections differ, those that are not listed among them.' },
        ),
        reordered: Type.Boolean({
          description: 'Whether the connections that both have are in a different order, which decides between equals.',
        }),
      },
      { description: 'Connections that differ; at most 1,000 in each list.' },
    ),
    other: Type.Array(
      Type.Object({ field: Type.String({ description: 'Name of the field of the flow document.' }), ...change }),
      { description: 'Name, settings and everything else that is neither node nor connection.' },
    ),
    equal: Type.Boolean({ description: 'Whether nothing differs.' }),
    truncated: Type.Boolean({ description: 'Whether a list was cut at 1,000 entries; the counts are whole.' }),
  },
  { $id: 'FlowDiff', description: 'What distinguishes two states of a flow.' },
);
export type FlowDiff = Static<typeof FlowDiff>;

const shared = { service: 'objects-api', tag: 'Flows', pathParameters: [] } as const;
const slug = { name: 'slug', description: "The flow's slug.", example: 'parcel-quote' };

export const listFlowVersions = {
  ...shared,
  id: 'listFlowVersions',
  method: 'get',
  path: '/api/v1/admin/flows/{slug}/versions',
  pathParameters: [slug],
  summary: 'List the published versions of a flow',
  description: listRuleVersions.description,
  entitlement: 'rules.read',
  query: ListRuleVersionsQuery,
  success: { ...listRuleVersions.success, schema: RuleVersionPage },
  errors: ['flow_not_found'],
} as const satisfies Operation;

export const publishFlowVersion = {
  ...shared,
  id: 'publishFlowVersion',
  method: 'post',
  path: '/api/v1/admin/flows/{slug}/versions/{version}/publish',
  pathParameters: [slug, ...publishRuleVersion.pathParameters.slice(1)],
  summary: 'Roll back: publish an earlier version again',
  description:
    'Its content becomes the next version, with what it was resolved to use; the draft stays as it is. Where what is in service has that content ' +
    'already, nothing happens. Its tests are not run. It is refused where the context that the flow is bound to could not take what it writes.',
  entitlement: 'rules.write',
  success: {
    status: 200,
    description: 'The flow; `version` is the new one.',
    schema: FlowDocument,
    example: exportFlow.success.example,
  },
  errors: ['flow_not_found', 'version_not_found', 'flow_invalid'],
} as const satisfies Operation;

export const diffFlow = {
  ...shared,
  id: 'diffFlow',
  method: 'get',
  path: '/api/v1/admin/flows/{slug}/diff',
  pathParameters: [slug],
  summary: 'Compare two versions of a flow, or one with the draft',
  description: 'Nodes are recognised by their `ref`, connections by all that they say.',
  entitlement: 'rules.read',
  query: DiffRuleQuery,
  success: {
    status: 200,
    description: diffRule.success.description,
    schema: FlowDiff,
    example: {
      flow: 'parcel-quote',
      from: '1',
      to: 'draft',
      nodes: {
        added: [],
        removed: [],
        changed: [
          { ref: 'large', changes: [{ field: 'condition', from: { operator: 'truthy' }, to: { operator: 'falsy' } }] },
        ],
        moved: [],
        counts: { added: 0, removed: 0, changed: 1, moved: 0 },
      },
      connections: { added: [], removed: [], counts: { added: 0, removed: 0 }, reordered: false },
      other: [],
      equal: false,
      truncated: false,
    },
  },
  errors: ['flow_not_found', 'flow_not_published', 'version_not_found', 'environment_not_found'],
} as const satisfies Operation;

export const flowVersionOperations: readonly Operation[] = [listFlowVersions, publishFlowVersion, diffFlow];
