import {
  type Environment,
  environmentFields,
  type EnvironmentRecord,
  type SaveEnvironmentRequest,
  ServiceError,
  toAnswer,
} from '@decision/contracts';
import {
  listEnvironments as listStoredEnvironments,
  MAX_ENVIRONMENTS,
  saveEnvironment as saveStoredEnvironment,
  type Transaction,
  type WorkspaceAccess,
} from '@decision/persistence';
import { refused } from '../grants';
import { type ReleaseContext } from './release-context';
import { environmentNotFound } from './release-answers';

export const listEnvironments = async ({ database }: ReleaseContext, access: WorkspaceAccess): Promise<Environment[]> =>
  (await database.inWorkspace(access, listStoredEnvironments)).map((environment) =>
    toAnswer(environmentFields, environment),
  );

/**
 * Creates an environment, or changes the given parts of one. Throws `forbidden` for a restricted key, `invalid_request` for unknown or too many
 * approvers.
 */
export const saveEnvironment = async (
  { database }: ReleaseContext,
  access: WorkspaceAccess,
  request: SaveEnvironmentRequest,
): Promise<Environment> => {
  requireUnrestricted(access, 'change environments');
  const { approval_scheme: approvalScheme, direct_releases: directReleases, ...given } = request;
  const settings = { ...given, approvalScheme, directReleases };
  const outcome = await database.inWorkspace(access, (transaction) => saveStoredEnvironment(transaction, settings));
  switch (outcome.status) {
    case 'saved':
      return toAnswer(environmentFields, outcome.environment);
    case 'too_many':
      throw refused('/slug', `cannot be another one: a workspace has at most ${MAX_ENVIRONMENTS} environments`);
    case 'unknown_approvers':
      throw refused(
        '/approvers',
        `must name roles and keys of the workspace: unknown are ${outcome.unknown.join(', ')}`,
      );
  }
};

/** Keys that see only part of the workspace may not change settings that concern all of it. */
export const requireUnrestricted = ({ userGroups }: WorkspaceAccess, what: string): void => {
  if (userGroups !== undefined)
    throw new ServiceError('forbidden', `A key that is restricted to user groups may not ${what}.`);
};

/** Throws `environment_not_found`. */
export const findEnvironment = async (transaction: Transaction, slug: string): Promise<EnvironmentRecord> => {
  const environments = await listStoredEnvironments(transaction);
  const found = environments.find((environment) => environment.slug === slug);
  if (found !== undefined) return found;
  throw environmentNotFound(slug, environments.map((environment) => environment.slug)); // prettier-ignore
};
