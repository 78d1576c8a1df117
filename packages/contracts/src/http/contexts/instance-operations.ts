import {
  BatchAnswer,
  BatchBody,
  BatchQuery,
  CascadeAnswer,
  CascadeRequest,
  DeletedInstance,
  FactsBody,
  GetInstanceQuery,
  HistoryQuery,
  InstanceAnswer,
  InstanceHistoryAnswer,
  InstanceList,
  ListInstancesQuery,
  PendingAnswer,
  SolveInstanceAnswer,
  SolveInstanceFlowAnswer,
  SubmitAnswer,
} from '../../contexts/instance-answers';
import { type Operation } from '../operation';

const slug = { name: 'slug', description: 'Slug of the context.', example: 'orders' };
const instance = { name: 'instance', description: 'Identity of the instance.', example: 'o-1001' };
const shared = { service: 'contexts-api', tag: 'Instances' } as const;
const one = {
  ...shared,
  path: '/api/v1/contexts/{slug}/{instance}',
  pathParameters: [slug, instance],
} as const;

const state = { order_id: 'o-1001', total: 120, discount: 12 };
const asSubmitted = {
  context: 'orders:o-1001',
  state,
  status: 'complete' as const,
  have: ['order_id', 'total', 'discount'],
  need: [],
  expires_at: null,
};
const solved = {
  context: 'orders:o-1001',
  rule: 'order-discount',
  status: 'solved' as const,
  result: { discount: 12 },
  auto_executed: true,
  written_to_context: ['discount'],
};
const submitted = { ...asSubmitted, is_new: true, triggered: true, cascaded: [solved] };
const shown = {
  ...asSubmitted,
  derived: {},
  executions: {},
  relations: {},
  created_at: '2026-01-15T09:30:00.000Z',
  updated_at: '2026-01-15T09:30:00.000Z',
};
/** Error codes of every call that changes an instance, in addition to its own. */
const CHANGE_ERRORS = [
  'context_not_found',
  'context_changed',
  'overloaded',
  'deadline_exceeded',
  'operation_interrupted',
] as const;

export const listInstancesOperation = {
  ...shared,
  path: '/api/v1/contexts/{slug}',
  pathParameters: [slug],
  id: 'listInstances',
  method: 'get',
  summary: 'List instances of a context',
  description: 'In the order of their ids, filtered by status and by how ids begin.',
  entitlement: 'contexts.read',
  query: ListInstancesQuery,
  success: {
    status: 200,
    description: 'Instances in the order of their ids.',
    schema: InstanceList,
    example: { data: [shown], next_cursor: null },
  },
  errors: ['context_not_found'],
} as const satisfies Operation;

export const submitOperation = {
  ...one,
  id: 'submitFacts',
  method: 'post',
  summary: 'Submit facts of an instance',
  description:
    'Facts are merged by name; bound rules and flows whose inputs are there run, and what they decide is written back.',
  entitlement: 'contexts.submit',
  body: { schema: FactsBody, large: true, anyText: true, description: 'Facts.', example: { total: 120 } },
  success: { status: 200, description: 'The instance as it now is.', schema: SubmitAnswer, example: submitted },
  errors: [...CHANGE_ERRORS, 'facts_invalid'],
} as const satisfies Operation;

export const getInstanceOperation = {
  ...one,
  id: 'getInstance',
  method: 'get',
  summary: 'Show an instance',
  description:
    'Facts, derived facts, what is missing and the last run of each bound rule and flow. Reading runs nothing.',
  entitlement: 'contexts.read',
  query: GetInstanceQuery,
  success: { status: 200, description: 'The instance.', schema: InstanceAnswer, example: shown },
  errors: ['context_not_found', 'instance_not_found', 'result_too_large'],
} as const satisfies Operation;

export const deleteInstanceOperation = {
  ...one,
  id: 'deleteInstance',
  method: 'delete',
  summary: 'Delete an instance',
  description: 'Registered evaluations end, and instances that read it are re-evaluated.',
  entitlement: 'contexts.submit',
  success: {
    status: 200,
    description: 'The instance was deleted.',
    schema: DeletedInstance,
    example: { message: 'Instance "orders:o-1001" was deleted.', pending_evaluations_cancelled: 0, cascaded: [] },
  },
  errors: [...CHANGE_ERRORS, 'instance_not_found'],
} as const satisfies Operation;

export const getHistoryOperation = {
  ...one,
  path: '/api/v1/contexts/{slug}/{instance}/history',
  id: 'getInstanceHistory',
  method: 'get',
  summary: 'History of tracked facts',
  description: 'Values that were committed for facts with `track_history`, as many as `history_limit` keeps.',
  entitlement: 'contexts.read',
  query: HistoryQuery,
  success: {
    status: 200,
    description: 'Entries of each fact, newest first.',
    schema: InstanceHistoryAnswer,
    example: { context: 'orders:o-1001', history: { total: [{ timestamp: '2026-01-15T09:30:00.000Z', value: 120 }] } },
  },
  errors: ['context_not_found', 'instance_not_found'],
} as const satisfies Operation;

export const getPendingOperation = {
  ...one,
  path: '/api/v1/contexts/{slug}/{instance}/pending',
  id: 'getPendingEvaluations',
  method: 'get',
  summary: 'Evaluations that wait for facts',
  description: 'Manual solves that were answered with 202 and whose facts have not all come.',
  entitlement: 'contexts.read',
  success: { status: 200, description: 'What waits, and for what.', schema: PendingAnswer, example: { pending: [] } },
  errors: ['context_not_found', 'instance_not_found'],
} as const satisfies Operation;

export const cascadeOperation = {
  ...one,
  path: '/api/v1/contexts/{slug}/{instance}/cascade',
  id: 'cascadeInstance',
  method: 'post',
  summary: 'Evaluate again what was registered',
  description: 'Runs what was registered and is ready now; what still waits stays registered.',
  entitlement: 'contexts.submit',
  body: { schema: CascadeRequest, description: 'Nothing is needed.', example: {}, optional: true },
  success: {
    status: 200,
    description: 'The results of the registered evaluations.',
    schema: CascadeAnswer,
    example: { context: 'orders:o-1001', cascaded: [solved] },
  },
  errors: [...CHANGE_ERRORS, 'instance_not_found'],
} as const satisfies Operation;

export const solveInstanceOperation = {
  ...one,
  path: '/api/v1/contexts/{slug}/{instance}/solve/{rule}',
  pathParameters: [slug, instance, { name: 'rule', description: 'Slug of a bound rule.', example: 'order-discount' }],
  id: 'solveInstanceRule',
  method: 'post',
  summary: 'Run a bound rule',
  description: 'Merges the body and runs the rule; 202 where it waits for facts, whose arrival settles it.',
  entitlement: 'contexts.submit',
  body: {
    schema: FactsBody,
    large: true,
    anyText: true,
    description: 'Facts.',
    example: { total: 120 },
    optional: true,
  },
  success: {
    status: 200,
    description: 'What the rule decided.',
    schema: SolveInstanceAnswer,
    example: {
      status: 'solved',
      context: 'orders:o-1001',
      rule: 'order-discount',
      result: { discount: 12 },
      written_to_context: ['discount'],
      cascaded: [],
    },
  },
  accepted: {
    description: 'The facts are merged; the rule waits for those that are missing, and runs once they arrive.',
    schema: SolveInstanceAnswer,
    example: {
      status: 'pending',
      context: 'orders:o-1001',
      rule: 'order-discount',
      have: ['order_id'],
      need: ['total'],
      waiting_on: [{ context: 'orders', instance: 'o-1001', fields: ['total'] }],
      expires_at: null,
      cascaded: [],
    },
  },
  errors: [...CHANGE_ERRORS, 'facts_invalid', 'rule_not_found'],
} as const satisfies Operation;

export const solveInstanceFlowOperation = {
  ...one,
  path: '/api/v1/contexts/{slug}/{instance}/flows/{flow}',
  pathParameters: [slug, instance, { name: 'flow', description: 'Slug of a bound flow.', example: 'order-pricing' }],
  id: 'solveInstanceFlow',
  method: 'post',
  summary: 'Run a bound flow',
  description: 'Merges the body and runs the flow; 202 where it waits for facts, whose arrival settles it.',
  entitlement: 'contexts.submit',
  body: solveInstanceOperation.body,
  success: {
    status: 200,
    description: 'What the flow decided.',
    schema: SolveInstanceFlowAnswer,
    example: {
      status: 'solved',
      context: 'orders:o-1001',
      flow: 'order-pricing',
      execution_id: '5f0c1be7a4d94f0b8f5a63d1c2e7b980',
      result: { price: 108 },
      usage: { executions: 1 },
      written_to_context: ['price'],
      cascaded: [],
    },
  },
  accepted: {
    description: 'The facts are merged; the flow waits for those that are missing, and runs once they arrive.',
    schema: SolveInstanceFlowAnswer,
    example: {
      status: 'pending',
      context: 'orders:o-1001',
      flow: 'order-pricing',
      have: ['order_id'],
      need: ['total'],
      waiting_on: [{ context: 'orders', instance: 'o-1001', fields: ['total'] }],
      expires_at: null,
      cascaded: [],
    },
  },
  errors: [...CHANGE_ERRORS, 'facts_invalid', 'flow_not_found'],
} as const satisfies Operation;

export const batchOperation = {
  ...shared,
  path: '/api/v1/contexts/batch/{slug}',
  pathParameters: [slug],
  id: 'submitBatch',
  method: 'post',
  summary: 'Submit records of many instances',
  description:
    'One call: records merge, bound rules and flows run, and the answer has every touched instance. A body of the content type `application/x-ndjson` has one record a line and is merged as it arrives; with `accept: application/x-ndjson` its answer comes as lines too: results, rejections, and at last the totals.',
  entitlement: 'contexts.submit',
  query: BatchQuery,
  body: {
    anyText: true,
    schema: BatchBody,
    large: true,
    description: 'Records.',
    example: [{ order_id: 'o-1001', total: 120 }],
    lines: {
      description: 'A record on each line.',
      example: [{ order_id: 'o-1001', total: 120 }, { order_id: 'o-1002' }],
    },
  },
  success: {
    status: 200,
    description: 'What was merged, rejected and run.',
    schema: BatchAnswer,
    example: {
      context: 'orders',
      accepted: 1,
      rejected: 0,
      executed: 0,
      ignored: 0,
      rejections: [],
      results: [
        {
          instance_id: 'o-1001',
          positions: [0],
          is_new: true,
          status: 'complete',
          triggered: false,
          reason: 'no_bound_assets',
        },
      ],
      cascaded: [],
      timings: { total_ms: 12, ingest_ms: 9 },
    },
    lines: {
      description:
        'On each line a result, or a rejection with its position; on the last line the totals, or an error with what was committed but not yet answered.',
      example: [
        { instance_id: 'o-1001', positions: [0], is_new: true, status: 'complete', triggered: false },
        { position: 1, error: 'The record has no identity.' },
        {
          context: 'orders',
          accepted: 1,
          rejected: 1,
          executed: 0,
          ignored: 0,
          cascaded: [],
          timings: { total_ms: 12 },
        },
      ],
    },
  },
  errors: CHANGE_ERRORS,
} as const satisfies Operation;

export const instanceOperations = [
  batchOperation,
  listInstancesOperation,
  submitOperation,
  getInstanceOperation,
  deleteInstanceOperation,
  getHistoryOperation,
  getPendingOperation,
  cascadeOperation,
  solveInstanceOperation,
  solveInstanceFlowOperation,
];
