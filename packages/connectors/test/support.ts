import { type FlowNodeType } from '@decision/contracts';
import { type FlowRun, type OutsideCall } from '@decision/flows';
import { type Connector } from '../src';

/** A run with a minute left. */
export const runOf = (changes: Partial<FlowRun> = {}): FlowRun => ({
  workspaceId: 'w1',
  versionId: 'v1',
  deadline: Date.now() + 60_000,
  idempotencyRoot: 'root',
  round: 0,
  requestId: 'r1',
  ...changes,
});

/** A call of a node "a". */
export const callOf = (
  type: FlowNodeType,
  fields: Readonly<Record<string, unknown>> = {},
  changes: Partial<OutsideCall> = {},
): OutsideCall => ({
  node: { ref: 'a', type, fields: { ref: 'a', type, ...fields }, onError: 'fail', defaultOutputs: {} },
  path: ['a'],
  indexes: [],
  inputs: {},
  signal: new AbortController().signal,
  ...changes,
});

/** A connector of type `api` that answers with the result of a function. */
export const connectorOf = (run: Connector['run'], changes: Partial<Connector> = {}): Connector => ({
  type: 'api',
  timeoutMs: 10_000,
  isRepeatable: () => true,
  run,
  ...changes,
});
