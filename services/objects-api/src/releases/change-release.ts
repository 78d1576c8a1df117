import { type ReleaseRecord, ServiceError } from '@decision/contracts';
import {
  endRelease,
  findPredecessors,
  findRelease,
  findReleaseForChange,
  findRollback,
  goLive,
  listEnvironments,
  putBack,
  recordApproval,
  type Transaction,
  type WorkspaceAccess,
} from '@decision/persistence';
import { type Identity } from '@decision/service-kit';
import { environmentNotFound, releaseConflict, releaseNotFound, standsFor, waitingFor } from './release-answers';
import { openRelease } from './open-release';
import { moveAndAnnounce, type ReleaseChange, type ReleaseContext } from './release-context';

type Change = (transaction: Transaction, release: ReleaseRecord) => Promise<ReleaseChange>;

/** Changes a release in one transaction, in which its asset is locked, and announces afterwards. Throws `release_not_found`. */
const changeRelease = (
  context: ReleaseContext,
  access: WorkspaceAccess,
  id: string,
  change: Change,
): Promise<ReleaseRecord> =>
  moveAndAnnounce(context, access, async (transaction) => {
    const release = await findReleaseForChange(transaction, id);
    if (release === undefined) throw releaseNotFound(id);
    return change(transaction, release);
  });

const readAgain = async (transaction: Transaction, id: string): Promise<ReleaseRecord> => {
  const release = await findRelease(transaction, id);
  if (release === undefined) throw releaseNotFound(id);
  return release;
};

/** Approves; with the last approval the pin moves. Throws `not_an_approver`, or `release_conflict` if the release has ended. */
export const approveRelease = (
  context: ReleaseContext,
  access: WorkspaceAccess,
  id: string,
  { actor, userId, role }: Pick<Identity, 'actor' | 'userId' | 'role'>,
): Promise<ReleaseRecord> =>
  changeRelease(context, access, id, async (transaction, release) => {
    const { approvers, state } = release;
    const keyIds = userId === undefined ? [actor, ...(await findPredecessors(transaction, actor))] : [];
    const agreed = standsFor(approvers, { keyIds, userId, role });
    if (agreed.length === 0) throw notAnApprover(release);
    if (state === 'live') return { release, moved: false };
    if (state !== 'pending') throw releaseConflict(release, `The release is ${state} and cannot be approved any more.`);
    await recordApproval(transaction, id, agreed);
    const approved = await readAgain(transaction, id);
    if (waitingFor(approved).length > 0) return { release: approved, moved: false };
    await goLive(transaction, approved);
    return { release: await readAgain(transaction, id), moved: true };
  });

const notAnApprover = ({ approvers }: ReleaseRecord): ServiceError =>
  new ServiceError(
    'not_an_approver',
    `The release waits for ${approvers.join(', ') || 'nobody'}; the caller is not one of them.`,
    {
      approvers,
    },
  );

/** Promotes the live version of this environment to the next level. Throws `release_conflict`, `environment_not_found` or `release_pending`. */
export const promoteRelease = (
  context: ReleaseContext,
  access: WorkspaceAccess,
  id: string,
  environment: string | undefined,
): Promise<ReleaseRecord> =>
  changeRelease(context, access, id, async (transaction, release) => {
    if (release.state !== 'live')
      throw releaseConflict(release, `The release is ${release.state}; only what is live can be promoted.`);
    return openRelease(transaction, {
      id: context.newId(),
      assetId: release.asset.id,
      versionId: release.versionId,
      environment: await findNext(transaction, release, environment),
      source: 'promotion',
      sourceReleaseId: release.id,
      note: release.note,
    });
  });

const findNext = async (transaction: Transaction, release: ReleaseRecord, wanted: string | undefined) => {
  const above = (await listEnvironments(transaction)).filter(({ level }) => level > release.environment.level);
  const next = above.filter(({ level }) => level === above[0]?.level);
  const slugs = next.map(({ slug }) => slug);
  const found = wanted === undefined ? next[0] : next.find(({ slug }) => slug === wanted);
  if (found !== undefined && (wanted !== undefined || next.length === 1)) return found;
  if (wanted !== undefined) throw environmentNotFound(wanted, slugs);
  throw releaseConflict(
    release,
    next.length === 0
      ? `There is no environment above "${release.environment.slug}".`
      : `The next level has several environments (${slugs.join(', ')}); name one in the parameter "environment".`,
  );
};

/** Ends a pending release, with `withdraw` also a live one. Idempotent. Throws `release_conflict`. */
export const cancelRelease = (
  context: ReleaseContext,
  access: WorkspaceAccess,
  id: string,
  withdraw: boolean,
): Promise<ReleaseRecord> =>
  changeRelease(context, access, id, async (transaction, release) => {
    const { state } = release;
    if (state === 'cancelled' || state === 'withdrawn') return { release, moved: false };
    if (state === 'live' && !withdraw)
      throw releaseConflict(
        release,
        'The release is live; roll it back, or send withdraw=true to leave nothing live there.',
      );
    if (state !== 'live' && state !== 'pending') throw releaseConflict(release, `The release is ${state} already.`);
    await endRelease(transaction, id, state === 'live' ? 'withdrawn' : 'cancelled');
    return { release: await readAgain(transaction, id), moved: state === 'live' };
  });

/** Restores the version that was live before; it was approved for the environment then. Throws `release_conflict`. */
export const rollBackRelease = (context: ReleaseContext, access: WorkspaceAccess, id: string): Promise<ReleaseRecord> =>
  changeRelease(context, access, id, async (transaction, release) => {
    const done = await findRollback(transaction, id);
    if (done !== undefined) return { release: done, moved: false };
    if (release.state !== 'live')
      throw releaseConflict(release, `The release is ${release.state}; only what is live can be rolled back.`);
    const previous = release.previousReleaseId;
    if (previous === null)
      throw releaseConflict(release, 'Nothing was live there before; withdraw the release instead.');
    const back = context.newId();
    await putBack(transaction, { id: back, instead: id, previous });
    return { release: await readAgain(transaction, back), moved: true };
  });
