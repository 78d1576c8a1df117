import { type EnvironmentRecord, type ReleaseRecord } from '@decision/contracts';
import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import { findRelease } from './releases';

const GROUPS = /* sql */ `select user_groups from assets where id = cast(:id as uuid)`;

/** Actions on a release. */
type ReleaseAction =
  'create' | 'promote' | 'approve' | 'go_live' | 'supersede' | 'cancel' | 'withdraw' | 'roll_back' | 'put_back';

/** Records the change of a release since `before`, which is undefined for a new one; it has the groups of its asset. */
const recordReleaseChange = async (
  transaction: Transaction,
  action: ReleaseAction,
  id: string,
  before: ReleaseRecord | undefined,
): Promise<void> => {
  const after = await findRelease(transaction, id);
  if (after === undefined) return;
  const [asset] = await query<{ user_groups: string[] }>(transaction, GROUPS, { id: after.asset.id });
  const name = `${after.asset.slug} ${after.version} in ${after.environment.slug}`;
  const userGroups = asset?.user_groups ?? [];
  const [was, is] = [before && recorded(before), recorded(after)];
  await recordChange(transaction, { kind: 'release', action, id, name, userGroups, before: was, after: is });
};

/** A release in the form of the audit: the asset under its kind. */
const recorded = ({ asset: { kind, ...asset }, ...release }: ReleaseRecord): object => ({ ...release, [kind]: asset });

export interface NewRelease {
  /** A UUID. */
  readonly id: string;
  /** The rule or flow. */
  readonly assetId: string;
  readonly versionId: string;
  readonly environment: Pick<EnvironmentRecord, 'id' | 'approvers' | 'approvalScheme'>;
  readonly source: ReleaseRecord['source'];
  readonly sourceReleaseId: string | null;
  readonly note: string | null;
}

type InsertReleaseOutcome =
  | { readonly status: 'inserted'; readonly release: ReleaseRecord }
  /** Another release has the id; it need not be visible. */
  | { readonly status: 'id_taken' };

const INSERT = /* sql */ `
  insert into releases (id, environment_id, rule_id, version_id, state, approvers, approval_scheme, source, source_release_id, note)
  values (
    cast(:id as uuid), cast(:environment_id as uuid), cast(:rule_id as uuid), cast(:version_id as uuid), 'pending',
    cast(:approvers as text[]), :approval_scheme, :source, cast(:source_release_id as uuid), :note
  )
  on conflict (id) do nothing
  returning id`;

/** Creates a pending release. The asset must be locked, without another pending release in the environment. */
export const insertRelease = async (
  transaction: Transaction,
  { id, assetId, versionId, environment, source, sourceReleaseId, note }: NewRelease,
): Promise<InsertReleaseOutcome> => {
  const [inserted] = await query(transaction, INSERT, {
    id,
    environment_id: environment.id,
    rule_id: assetId,
    version_id: versionId,
    approvers: environment.approvers,
    approval_scheme: environment.approvalScheme,
    source,
    source_release_id: sourceReleaseId,
    note,
  });
  if (inserted === undefined) return { status: 'id_taken' };
  await recordReleaseChange(transaction, source === 'promotion' ? 'promote' : 'create', id, undefined);
  const release = await findRelease(transaction, id);
  return release ? { status: 'inserted', release } : { status: 'id_taken' };
};

/** Ways in which a release ends. */
type EndState = Exclude<ReleaseRecord['state'], 'pending' | 'live'>;

const APPROVE = /* sql */ `
  insert into release_approvals (release_id, stands_for) values (cast(:id as uuid), cast(:stands_for as text[]))
  on conflict (release_id, approved_by) do nothing
  returning release_id`;

const END = /* sql */ `
  update releases set state = :state, ended_at = clock_timestamp(), ended_by = app_actor()
  where id = cast(:id as uuid) and state in ('pending', 'live')
  returning id`;

const FIND_LIVE = /* sql */ `
  select id from releases
  where environment_id = cast(:environment_id as uuid) and rule_id = cast(:rule_id as uuid) and state = 'live'`;

const GO_LIVE = /* sql */ `
  update releases set state = 'live', live_at = clock_timestamp(), previous_release_id = cast(:previous as uuid)
  where id = cast(:id as uuid) and state = 'pending'
  returning id`;

/** Runs a statement that answers a row if it changes the release, and records the change. */
const changeRelease = async (
  transaction: Transaction,
  { id, action }: { readonly id: string; readonly action: ReleaseAction },
  statement: (release: { readonly id: string }) => Promise<readonly unknown[]>,
): Promise<void> => {
  const before = await findRelease(transaction, id);
  if ((await statement({ id })).length > 0) await recordReleaseChange(transaction, action, id, before);
};

/** Records the approval by the actor of the transaction, for some of the approvers. Idempotent. */
export const recordApproval = (transaction: Transaction, id: string, standsFor: readonly string[]): Promise<void> =>
  changeRelease(transaction, { id, action: 'approve' }, (release) =>
    query(transaction, APPROVE, { ...release, stands_for: standsFor }),
  );

const END_ACTIONS: Readonly<Record<EndState, ReleaseAction>> = {
  superseded: 'supersede',
  rolled_back: 'roll_back',
  withdrawn: 'withdraw',
  cancelled: 'cancel',
};

/** Ends a pending or live release; an ended one is unchanged. The asset must be locked. */
export const endRelease = (transaction: Transaction, id: string, state: EndState): Promise<void> =>
  changeRelease(transaction, { id, action: END_ACTIONS[state] }, (release) =>
    query(transaction, END, { ...release, state }),
  );

/**
 * Moves the pin: the live release of the environment is superseded, and the pending release replaces it, in the caller's transaction. The
 * asset must be locked.
 */
export const goLive = async (
  transaction: Transaction,
  { id, environment, asset }: Pick<ReleaseRecord, 'id' | 'environment' | 'asset'>,
): Promise<void> => {
  const place = { environment_id: environment.id, rule_id: asset.id };
  const [live] = await query<{ id: string }>(transaction, FIND_LIVE, place);
  if (live !== undefined) await endRelease(transaction, live.id, 'superseded');
  await changeRelease(transaction, { id, action: 'go_live' }, (release) =>
    query(transaction, GO_LIVE, { ...release, previous: live?.id ?? null }),
  );
};

const PUT_BACK = /* sql */ `
  insert into releases (
    id, environment_id, rule_id, version_id, state, approvers, approval_scheme, source, source_release_id, previous_release_id, live_at
  )
  select cast(:id as uuid), environment_id, rule_id, version_id, 'live', '{}', approval_scheme, 'rollback', cast(:instead as uuid),
    previous_release_id, clock_timestamp()
  from releases where id = cast(:previous as uuid)
  returning id`;

/**
 * Moves the pin back: the live release `instead` ends as rolled back, and a new release of the version of `previous` is live in its place.
 * Rolling that one back leads to the version that was live before `previous`. The asset must be locked.
 */
export const putBack = async (
  transaction: Transaction,
  { id, instead, previous }: { readonly id: string; readonly instead: string; readonly previous: string },
): Promise<void> => {
  await endRelease(transaction, instead, 'rolled_back');
  await changeRelease(transaction, { id, action: 'put_back' }, (release) =>
    query(transaction, PUT_BACK, { ...release, instead, previous }),
  );
};
