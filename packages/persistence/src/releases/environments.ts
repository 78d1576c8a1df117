import { changedNow } from '../connection/changed-now';
import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import { environmentFields, type EnvironmentRecord } from '@decision/contracts';
import { type DescribedRow, describeTable } from '../resources/described-table';

const { columns, toRecord } = describeTable('environments', environmentFields);

type EnvironmentSettings = Pick<
  EnvironmentRecord,
  'name' | 'level' | 'approvers' | 'approvalScheme' | 'directReleases'
>;

/** Changes of an environment; absent parts of an existing one stay unchanged, and a new one takes the defaults. */
type SavedEnvironment = Pick<EnvironmentRecord, 'slug'> & {
  readonly [part in keyof EnvironmentSettings]?: EnvironmentSettings[part] | undefined;
};

const LIST = /* sql */ `select ${columns} from environments order by level, slug`;

/** Every environment of the workspace, from the lowest level up; {@link MAX_ENVIRONMENTS} at most. */
export const listEnvironments = async (transaction: Transaction): Promise<readonly EnvironmentRecord[]> =>
  (await query<DescribedRow>(transaction, LIST)).map(toRecord);

/** A pointer contains the pins of every environment, so their number is limited. */
export const MAX_ENVIRONMENTS = 100;

type SaveEnvironmentOutcome =
  | { readonly status: 'saved'; readonly environment: EnvironmentRecord }
  /** The workspace has {@link MAX_ENVIRONMENTS} already. */
  | { readonly status: 'too_many' }
  /** These approvers are neither roles nor keys of the workspace. */
  | { readonly status: 'unknown_approvers'; readonly unknown: readonly string[] };

const UNKNOWN_APPROVERS = /* sql */ `
  select approver from unnest(cast(:approvers as text[])) as approver
  where not exists (select from roles where 'role:' || name = approver)
    and not exists (select from api_keys where 'key:' || id = approver)`;

const HAS_ROOM = /* sql */ `
  select count(*) < ${MAX_ENVIRONMENTS} or bool_or(slug = :slug) as has_room from environments`;

const LOCK = /* sql */ `select ${columns} from environments where slug = :slug for update`;

const SAVE = /* sql */ `
  insert into environments (slug, name, level, approvers, approval_scheme, direct_releases)
  values (
    :slug, coalesce(:name, :slug), coalesce(cast(:level as integer), 1), coalesce(cast(:approvers as text[]), '{}'),
    coalesce(:approval_scheme, 'any'), coalesce(cast(:direct_releases as boolean), true)
  )
  on conflict (workspace_id, slug) do update
    set name = coalesce(:name, environments.name), level = coalesce(cast(:level as integer), environments.level),
      approvers = coalesce(cast(:approvers as text[]), environments.approvers),
      approval_scheme = coalesce(:approval_scheme, environments.approval_scheme),
      direct_releases = coalesce(cast(:direct_releases as boolean), environments.direct_releases),
      ${changedNow('environments')}, updated_by = app_actor()
  returning ${columns}`;

/**
 * Creates an environment, or changes the given parts of the one of this slug, in one statement, so that two changes of different parts are
 * both kept. A new one is named like its slug, has level 1 and no approvers, and accepts direct releases. Pending releases keep the
 * approvers that they were created with. Throws `forbidden` for an access that is restricted to groups.
 */
export const saveEnvironment = async (
  transaction: Transaction,
  { slug, name, level, approvers, approvalScheme, directReleases }: SavedEnvironment,
): Promise<SaveEnvironmentOutcome> => {
  const unknown = await query<{ approver: string }>(transaction, UNKNOWN_APPROVERS, { approvers: approvers ?? [] });
  if (unknown.length > 0) return { status: 'unknown_approvers', unknown: unknown.map(({ approver }) => approver) };
  const [room] = await query<{ has_room: boolean }>(transaction, HAS_ROOM, { slug });
  if (room?.has_room === false) return { status: 'too_many' };
  const [locked] = await query<DescribedRow>(transaction, LOCK, { slug });
  const rows = await query<DescribedRow>(transaction, SAVE, {
    slug,
    name: name ?? null,
    level: level ?? null,
    approvers: approvers ?? null,
    approval_scheme: approvalScheme ?? null,
    direct_releases: directReleases ?? null,
  });
  const environment = toRecord(rows[0] as DescribedRow); // an upsert of one row answers one
  const before = locked && toRecord(locked);
  await recordChange(transaction, {
    ...{ kind: 'environment', action: before ? 'update' : 'create', id: environment.id, name: slug },
    before,
    after: environment,
  });
  return { status: 'saved', environment };
};
