import {
  type AssetKind,
  type CreateReleaseRequest,
  type EnvironmentRecord,
  type ReleaseRecord,
  ServiceError,
} from '@decision/contracts';
import {
  findNumberedVersion,
  listEnvironments,
  lockAsset,
  type LockedAsset,
  type Transaction,
  type WorkspaceAccess,
} from '@decision/persistence';
import { refused } from '../grants';
import { findEnvironment } from './environments';
import { openRelease } from './open-release';
import { moveAndAnnounce, type ReleaseContext } from './release-context';

/**
 * Releases a published version of a rule or flow into an environment. Throws `rule_not_found`, `rule_not_published`, `flow_not_found`,
 * `flow_not_published`, `version_not_found`, `environment_not_found`, `release_not_direct`, `release_pending` or `release_conflict`.
 */
export const createRelease = (
  context: ReleaseContext,
  access: WorkspaceAccess,
  request: CreateReleaseRequest,
): Promise<ReleaseRecord> =>
  moveAndAnnounce(context, access, async (transaction) => {
    const { kind, asset } = await requireAsset(transaction, request);
    const environment = await findEnvironment(transaction, request.environment);
    await requireDirect(transaction, environment);
    return openRelease(transaction, {
      id: request.id ?? context.newId(),
      assetId: asset.id,
      versionId: await findVersion(transaction, kind, asset, request.version ?? 'latest'),
      environment,
      source: 'direct',
      sourceReleaseId: null,
      note: request.note ?? null,
    });
  });

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Ids take precedence: a slug that reads like an id is found only if no asset has that id. Throws `invalid_request` unless one asset is named. */
const requireAsset = async (
  transaction: Transaction,
  { rule, flow }: CreateReleaseRequest,
): Promise<{ readonly kind: AssetKind; readonly asset: LockedAsset }> => {
  const [kind, name] = rule === undefined ? (['flow', flow] as const) : (['rule', rule] as const);
  if (name === undefined) throw refused('/rule', 'or `flow` must name what is released');
  if (rule !== undefined && flow !== undefined)
    throw refused('/flow', 'must not be given with `rule`: a release has one of them');
  const byId = UUID.test(name) ? await lockAsset(transaction, kind, { id: name }) : undefined;
  const asset = byId ?? (await lockAsset(transaction, kind, { slug: name }));
  if (asset !== undefined) return { kind, asset };
  throw new ServiceError(`${kind}_not_found`, `No ${kind} with the slug or id "${name}" is visible to this key.`, {
    [kind]: name,
  });
};

const findVersion = async (
  transaction: Transaction,
  kind: AssetKind,
  { id, slug, publishedVersionId }: LockedAsset,
  version: number | 'latest',
): Promise<string> => {
  if (publishedVersionId === null)
    throw new ServiceError(
      `${kind}_not_published`,
      `The ${kind} "${slug}" has no published version; publish it first.`,
      {
        slug,
      },
    );
  if (version === 'latest') return publishedVersionId;
  const found = await findNumberedVersion(transaction, id, version);
  if (found !== undefined) return found.version_id;
  throw new ServiceError('version_not_found', `The ${kind} "${slug}" has no version ${version}.`, { slug, version });
};

/** The lowest level always takes direct releases: there is no level below to promote from. */
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
