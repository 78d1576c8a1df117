import { type EnvironmentRecord, ServiceError } from '@decision/contracts';
import {
  findOpenReleases,
  findRelease,
  goLive,
  insertRelease,
  type NewRelease,
  type Transaction,
} from '@decision/persistence';
import { waitingFor } from './release-answers';
import { type ReleaseChange } from './release-context';

/** A requested release; the asset is locked. */
interface WantedRelease extends NewRelease {
  readonly environment: EnvironmentRecord;
}

/**
 * Makes a release, live at once if nobody has to approve it. If the version is already pending or live in the environment, that release is the
 * answer. Throws `release_pending` if another version is pending, and `release_conflict` if the id belongs to a different release.
 */
export const openRelease = async (transaction: Transaction, wanted: WantedRelease): Promise<ReleaseChange> => {
  const known = (await findAgain(transaction, wanted)) ?? (await findOpen(transaction, wanted));
  if (known !== undefined) return { release: known, moved: false };
  const outcome = await insertRelease(transaction, wanted);
  if (outcome.status === 'id_taken') throw idTaken(wanted.id);
  const { release } = outcome;
  if (waitingFor(release).length > 0) return { release, moved: false };
  await goLive(transaction, release);
  return { release: (await findRelease(transaction, release.id)) ?? release, moved: true };
};

/** The release that an earlier request with the same id has created. */
const findAgain = async (transaction: Transaction, { id, assetId, versionId, environment }: WantedRelease) => {
  const known = await findRelease(transaction, id);
  if (known === undefined) return undefined;
  const same = known.asset.id === assetId && known.versionId === versionId && known.environment.id === environment.id;
  if (same) return known;
  throw idTaken(id);
};

const findOpen = async (transaction: Transaction, { assetId, versionId, environment }: WantedRelease) => {
  const open = (await findOpenReleases(transaction, assetId)).filter(
    (release) => release.environment.id === environment.id,
  );
  const same = open.find((release) => release.versionId === versionId);
  const pending = open.find(({ state }) => state === 'pending');
  if (pending === undefined || pending === same) return same;
  throw new ServiceError(
    'release_pending',
    `Version ${pending.version} of the ${pending.asset.kind} waits for approval in "${environment.slug}"; cancel that release first.`,
    { release_id: pending.id, version: pending.version },
  );
};

const idTaken = (id: string): ServiceError =>
  new ServiceError('release_conflict', `The id ${id} belongs to another release; leave it out or choose another.`, {
    id,
  });
