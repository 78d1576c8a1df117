import { type Static, Type } from '@sinclair/typebox';
import { limits } from '../limits';
import { type Operation } from './operation';

export const ScaleStatus = Type.Object(
  {
    status: Type.Unsafe<'idle' | 'scaling' | 'ready'>({
      type: 'string',
      enum: ['idle', 'scaling', 'ready'],
      description:
        '`idle`: no number is asked for; `scaling`: fewer workers have joined than that; `ready`: as many, or more.',
    }),
    target_workers: Type.Integer({
      minimum: 0,
      description: 'Workers that this workspace asks for; 0 if it asks for none.',
    }),
    expires_in_seconds: Type.Integer({ minimum: 0, description: 'For how long it still asks for them.' }),
    active_workers: Type.Integer({
      minimum: 0,
      description: 'Workers of the deployment that have joined; one that died counts until the broker has noticed.',
    }),
  },
  { $id: 'ScaleStatus', description: 'How many workers there are, and how many are wanted.' },
);
export type ScaleStatus = Static<typeof ScaleStatus>;

export const ScaleRequest = Type.Object(
  {
    target_workers: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.maxWorkers.max,
        description: `How many workers are wanted, at most ${limits.maxWorkers.env} of the service. Absent: one more than have joined, or as many as are asked for already, whichever is more.`,
      }),
    ),
  },
  { $id: 'ScaleRequest', additionalProperties: false, description: 'How many workers are wanted.' },
);
export type ScaleRequest = Static<typeof ScaleRequest>;

const shared = {
  service: 'hps-gateway',
  tag: 'Workers',
  path: '/api/v1/scale',
  pathParameters: [],
  errors: ['broker_unavailable'],
} as const;

export const getScale = {
  ...shared,
  id: 'getScale',
  method: 'get',
  summary: 'Read how many workers there are, and how many are wanted',
  description: 'Counts the workers that have joined and says what this workspace asks for; it changes nothing.',
  entitlement: 'solve',
  success: {
    status: 200,
    description: 'The workers of the deployment, as of the last two seconds.',
    schema: ScaleStatus,
    example: { status: 'ready', target_workers: 4, expires_in_seconds: 840, active_workers: 4 },
  },
} as const satisfies Operation;

export const scaleWorkers = {
  ...shared,
  id: 'scaleWorkers',
  method: 'post',
  summary: 'Ask for more workers for a while',
  description:
    'Starts no worker itself: it sets a number that the autoscaler of the deployment reads from the metric `decision_desired_workers`, ' +
    `the largest that any workspace asks for. The number is wanted for ${limits.workerFloorMs.env} ms from the latest request on.`,
  entitlement: 'workers.scale',
  body: {
    schema: ScaleRequest,
    optional: true,
    description: 'How many workers are wanted; a request without a body asks for one more.',
    example: { target_workers: 4 },
  },
  success: {
    status: 200,
    description: 'What is now asked for.',
    schema: ScaleStatus,
    example: { status: 'scaling', target_workers: 4, expires_in_seconds: 900, active_workers: 3 },
  },
} as const satisfies Operation;

/** Calls about the number of workers. */
export const scaleOperations = [getScale, scaleWorkers];
