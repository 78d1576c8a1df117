import { answerExample } from '../../resource';
import { type Operation } from '../operation';
import {
  CancelReleaseQuery,
  CreateReleaseRequest,
  Environment,
  environmentFields,
  EnvironmentList,
  ListReleasesQuery,
  PromoteReleaseQuery,
  ReconciledReleases,
  Release,
  releaseFields,
  ReleasePage,
  SaveEnvironmentRequest,
} from './releases';

const shared = { service: 'objects-api', tag: 'Releases', pathParameters: [] } as const;

const environmentExample = answerExample(environmentFields);

const releaseExample = {
  ...answerExample(releaseFields),
  rule: releaseFields.asset.example,
  environment: releaseFields.environment.example.slug,
  level: releaseFields.environment.example.level,
  waiting_for: releaseFields.approvers.example,
};

export const listEnvironments = {
  ...shared,
  id: 'listEnvironments',
  method: 'get',
  path: '/api/v1/admin/environments',
  summary: 'List environments',
  description: 'From the lowest level up, on one page.',
  entitlement: 'releases.read',
  success: {
    status: 200,
    description: 'Every environment, from the lowest level up.',
    schema: EnvironmentList,
    example: { data: [environmentExample], next_cursor: null },
  },
  errors: [],
} as const satisfies Operation;

export const saveEnvironment = {
  ...shared,
  id: 'saveEnvironment',
  method: 'post',
  path: '/api/v1/admin/environments',
  summary: 'Create or change an environment',
  description:
    'A known slug is changed, so that sending the same twice does no harm. Releases that wait keep the approvers with which they were ' +
    'made. A key that is restricted to groups may not do this.',
  entitlement: 'environments.manage',
  body: {
    schema: SaveEnvironmentRequest,
    description: 'The environment.',
    example: { slug: 'production', name: 'Production', level: 2, approvers: ['role:admin'], direct_releases: false },
  },
  success: { status: 200, description: 'The environment.', schema: Environment, example: environmentExample },
  errors: [],
} as const satisfies Operation;

export const listReleases = {
  ...shared,
  id: 'listReleases',
  method: 'get',
  path: '/api/v1/admin/releases',
  summary: 'List releases',
  description: 'Newest first, filtered by rule or flow, environment and state.',
  entitlement: 'releases.read',
  query: ListReleasesQuery,
  success: {
    status: 200,
    description: 'Releases of the rules and flows that the key may see, newest first.',
    schema: ReleasePage,
    example: { data: [releaseExample], next_cursor: null },
  },
  errors: [],
} as const satisfies Operation;

export const createRelease = {
  ...shared,
  id: 'createRelease',
  method: 'post',
  path: '/api/v1/admin/releases',
  summary: 'Release a published version into an environment',
  description:
    'Live at once where the environment has no approvers, else pending. A version that waits or is live there already is answered as it is.',
  entitlement: 'releases.write',
  body: {
    schema: CreateReleaseRequest,
    description: 'What, and where.',
    example: { rule: 'parcel-price', version: 3, environment: 'production' },
  },
  success: { status: 200, description: 'The release.', schema: Release, example: releaseExample },
  errors: [
    'rule_not_found',
    'rule_not_published',
    'flow_not_found',
    'flow_not_published',
    'version_not_found',
    'environment_not_found',
    'release_pending',
    'release_not_direct',
    'release_conflict',
  ],
} as const satisfies Operation;

const ofRelease = {
  ...shared,
  method: 'post',
  pathParameters: [{ name: 'id', description: 'The id of the release.', example: releaseExample.id }],
  success: { status: 200, description: 'The release.', schema: Release, example: releaseExample },
} as const;

export const approveRelease = {
  ...ofRelease,
  id: 'approveRelease',
  path: '/api/v1/admin/releases/{id}/approve',
  summary: 'Approve a release',
  description:
    'With the last approval that is needed the release goes live, in the same transaction. Approving twice is the same as once.',
  entitlement: 'releases.approve',
  errors: ['release_not_found', 'release_conflict', 'not_an_approver'],
} as const satisfies Operation;

export const promoteRelease = {
  ...ofRelease,
  id: 'promoteRelease',
  path: '/api/v1/admin/releases/{id}/promote',
  summary: 'Release what is live here at the next level',
  description: 'Makes a release of the same version there; it waits for approval if that environment requires it.',
  entitlement: 'releases.write',
  query: PromoteReleaseQuery,
  success: { ...ofRelease.success, description: 'The release at the next level.' },
  errors: ['release_not_found', 'environment_not_found', 'release_conflict', 'release_pending'],
} as const satisfies Operation;

export const cancelRelease = {
  ...ofRelease,
  id: 'cancelRelease',
  path: '/api/v1/admin/releases/{id}/cancel',
  summary: 'Cancel a release that waits, or withdraw one that is live',
  description: 'A release that waits is cancelled. One that is live is withdrawn where `withdraw` is `true`.',
  entitlement: 'releases.write',
  query: CancelReleaseQuery,
  errors: ['release_not_found', 'release_conflict'],
} as const satisfies Operation;

export const rollBackRelease = {
  ...ofRelease,
  id: 'rollBackRelease',
  path: '/api/v1/admin/releases/{id}/rollback',
  summary: 'Put back what was live before this release',
  description:
    'Needs no new approval: that version had been live there. Rolling back twice is the same as once; rolling back the answer goes one further.',
  entitlement: 'releases.write',
  success: { ...ofRelease.success, description: 'The release that is now live.' },
  errors: ['release_not_found', 'release_conflict'],
} as const satisfies Operation;

export const reconcileReleases = {
  ...shared,
  id: 'reconcileReleases',
  method: 'post',
  path: '/api/v1/admin/releases/reconcile',
  summary: 'Rebuild every release pin of the workspace in the caches',
  description: 'Changes nothing in the database. A key that is restricted to groups may not do this.',
  entitlement: 'environments.manage',
  success: {
    status: 200,
    description: 'How many.',
    schema: ReconciledReleases,
    example: { reconciled: 12, rules: 8, flows: 1 },
  },
  errors: [],
} as const satisfies Operation;

export const releaseOperations = [
  listEnvironments,
  saveEnvironment,
  listReleases,
  createRelease,
  approveRelease,
  promoteRelease,
  cancelRelease,
  rollBackRelease,
  reconcileReleases,
];
