import { type CreateReleaseRequest, type EnvironmentRecord, ServiceError } from '@decision/contracts';
import {
  findNumberedVersion,
  listEnvironments,
  type LockedRule,
  lockRule,
  type ReleaseRecord,
  type Transaction,
  type WorkspaceAccess,
} from '@decision/persistence';
import { findEnvironment } from './environments';
import { openRelease } from './open-release';
import { moveAndAnnounce, type ReleaseContext } from './release-context';

/**
 * Releases a published version into an environment. Throws `rule_not_found`, `rule_not_published`, `version_not_found`,
 * `environment_not_found`, `release_not_direct`, `release_pending` or `release_conflict`.
 */
export const createRelease = (
  context: ReleaseContext,
  access: WorkspaceAccess,
  request: CreateReleaseRequest,
): Promise<ReleaseRecord> =>
  moveAndAnnounce(context, access, async (transaction) => {
    const rule = await requireRule(transaction, request.rule);
    const environment = await findEnvironment(transaction, request.environment);
    await requireDirect(transaction, environment);
    return openRelease(transaction, {
      id: request.id ?? context.newId(),
      ruleId: rule.id,
      versionId: await findVersion(transaction, rule, request.version ?? 'latest'),
      environment,
      source: 'direct',
      sourceReleaseId: null,
      note: request.note ?? null,
    });
  });

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Ids come first: a slug that reads like one is found where no rule has it as its id. */
const requireRule = async (transaction: Transaction, name: string): Promise<LockedRule> => {
  const byId = UUID.test(name) ? await lockRule(transaction, { id: name }) : undefined;
  const rule = byId ?? (await lockRule(transaction, { slug: name }));
  if (rule !== undefined) return rule;
  throw new ServiceError('rule_not_found', `No rule with the slug or id "${name}" is visible to this key.`, {
    rule: name,
  });
};

const findVersion = async (transaction: Transaction, rule: LockedRule, version: number | 'latest'): Promise<string> => {
  const { id, slug, publishedVersionId } = rule;
  if (publishedVersionId === null)
    throw new ServiceError('rule_not_published', `The rule "${slug}" has no published version; publish it first.`, {
      slug,
    });
  if (version === 'latest') return publishedVersionId;
  const found = await findNumberedVersion(transaction, id, version);
  if (found !== undefined) return found.version_id;
  throw new ServiceError('version_not_found', `The rule "${slug}" has no version ${version}.`, { slug, version });
};

/** The lowest level takes direct releases in any case: there is nothing below from which one could be promoted. */
const requireDirect = async (transaction: Transaction, environment: EnvironmentRecord): Promise<void> => {
  if (environment.directReleases) return;
  const below = (await listEnvironments(transaction)).filter(({ level }) => level < environment.level);
  const next = below.filter(({ level }) => level === below.at(-1)?.level).map(({ slug }) => slug);
  if (next.length === 0) return;
  throw new ServiceError(
    'release_not_direct',
    `"${environment.slug}" takes only releases that are promoted from ${next.map((slug) => `"${slug}"`).join(' or ')}.`,
    { environment: environment.slug, promote_from: next },
  );
};
