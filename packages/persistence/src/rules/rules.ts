import { recordChange } from '../audit/record-change';
import { asWorkspace } from '../connection/access';
import { changedNow } from '../connection/changed-now';
import { type Bindings, query, type Transaction } from '../connection/query';
import { writeUnlessTaken } from '../connection/unique-violation';
import { isUuid } from '../connection/uuid';
import { findOpenReleases, type ReleaseRecord } from '../releases/releases';
import {
  type ColumnWrite,
  fromRules,
  recordColumns,
  type RuleDraft,
  type RuleRecord,
  type RuleRow,
  toRuleRecord,
  writeDraft,
} from './rule-record';

/** Names one rule of a workspace. */
export type RuleName = { readonly id: string } | { readonly slug: string };

const BY_ID = /* sql */ `select ${recordColumns} from ${fromRules} where rules.id = cast(:id as uuid)`;
const BY_SLUG = /* sql */ `select ${recordColumns} from ${fromRules} where rules.slug = :slug`;

/** Finds a rule with its whole draft; undefined where none is visible. */
export const findRule = async (transaction: Transaction, name: RuleName): Promise<RuleRecord | undefined> => {
  if ('id' in name && !isUuid(name.id)) return undefined;
  const [row] =
    'id' in name
      ? await query<RuleRow>(transaction, BY_ID, { id: name.id })
      : await query<RuleRow>(transaction, BY_SLUG, { slug: name.slug });
  return row && toRuleRecord(row);
};

/** A rule that is locked until the transaction ends. */
export interface LockedRule {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  /** The version in service. */
  readonly publishedVersionId: string | null;
}

const COLUMNS = 'id, slug, name, published_version_id as "publishedVersionId"';
const LOCK_BY_ID = /* sql */ `select ${COLUMNS} from rules where id = cast(:id as uuid) for update`;
const LOCK_BY_SLUG = /* sql */ `select ${COLUMNS} from rules where slug = :slug for update`;

/**
 * Locks a rule; undefined where none is visible. Whoever publishes, releases, changes or deletes a rule takes its row first, so that they
 * form a line and never a deadlock.
 */
export const lockRule = async (transaction: Transaction, name: RuleName): Promise<LockedRule | undefined> => {
  if ('slug' in name) return (await query<LockedRule>(transaction, LOCK_BY_SLUG, { slug: name.slug }))[0];
  return isUuid(name.id) ? (await query<LockedRule>(transaction, LOCK_BY_ID, { id: name.id }))[0] : undefined;
};

export interface NewRule extends RuleDraft {
  /** A UUID; unique among the rules of all workspaces. */
  readonly id: string;
  readonly slug: string;
  /** A restricted access must name groups of its own, at least one. */
  readonly userGroups: readonly string[];
  /** Ids of the values that the draft refers to; default none. */
  readonly valueIds?: readonly string[];
}

type InsertRuleOutcome =
  | { readonly status: 'inserted'; readonly rule: RuleRecord }
  /** Another rule of the workspace has the slug; it need not be visible. */
  | { readonly status: 'slug_taken' }
  /** Another rule has the id; it need not be visible. */
  | { readonly status: 'id_taken' };

interface InsertedRow {
  readonly created_at: Date;
  readonly updated_by: string | null;
}

const SLUG_CONSTRAINT = 'rules_slug_key';

/** Answers no row where the id belongs to another workspace. An id of a deleted rule of this workspace is taken up again. */
const CLAIM_ID = /* sql */ `
  with claimed as (
    insert into rule_ids (id) values (cast(:id as uuid)) on conflict (id) do nothing returning id
  )
  select id from claimed union all select id from rule_ids where id = cast(:id as uuid)`;

/** Stores a new, unpublished rule. Throws `forbidden` where a restricted access names groups that it does not have, or none. */
export const insertRule = async (transaction: Transaction, rule: NewRule): Promise<InsertRuleOutcome> => {
  const { id, slug, userGroups, valueIds = [], ...draft } = rule;
  const { columns, bindings } = writeDraft(draft);
  const claimed = await query(transaction, CLAIM_ID, { id });
  if (claimed.length === 0) return { status: 'id_taken' };
  const insertion = await writeUnlessTaken(transaction, (savepoint) =>
    query<InsertedRow>(
      savepoint,
      /* sql */ `
      insert into rules (id, slug, user_groups, value_ids, created_at, updated_at, ${columns.map(({ column }) => column).join(', ')})
      select cast(:id as uuid), :slug, cast(:user_groups as text[]), cast(:value_ids as uuid[]), moment, moment,
        ${columns.map(({ expression }) => expression).join(', ')}
      from clock_timestamp() as moment
      returning created_at, updated_by`,
      { ...bindings, id, slug, user_groups: userGroups, value_ids: valueIds },
    ),
  );
  if (insertion.status === 'taken')
    return { status: insertion.constraint === SLUG_CONSTRAINT ? 'slug_taken' : 'id_taken' };
  const inserted = toRecord(rule, insertion.value[0] as InsertedRow); // an insert of one row answers one
  await recordChange(transaction, { kind: 'rule', action: 'create', id, name: slug, userGroups, after: inserted });
  return { status: 'inserted', rule: inserted };
};

const toRecord = ({ valueIds: _valueIds, ...rule }: NewRule, { created_at, updated_by }: InsertedRow): RuleRecord => ({
  ...rule,
  publishedVersion: null,
  publishedAt: null,
  createdAt: created_at.toISOString(),
  updatedAt: created_at.toISOString(),
  updatedBy: updated_by,
});

/** Changes; absent parts stay as they are. */
export interface RuleChanges extends Partial<RuleDraft> {
  readonly slug?: string;
  /** A restricted access can add only groups of its own and must keep one of them. */
  readonly userGroups?: readonly string[];
  /** Ids of the values that the draft now refers to. */
  readonly valueIds?: readonly string[];
}

interface UpdateConditions {
  /** ISO 8601 with milliseconds: the `updatedAt` that the caller has seen. */
  readonly expectedUpdatedAt?: string | undefined;
}

type UpdateRuleOutcome =
  | {
      readonly status: 'updated';
      readonly rule: RuleRecord;
      /** Slug before the change. */
      readonly previousSlug: string;
    }
  | { readonly status: 'slug_taken' }
  | { readonly status: 'not_found' }
  /** Somebody changed the rule since the caller saw it. */
  | { readonly status: 'stale'; readonly updatedAt: string };

const LOCK = /* sql */ `select slug, updated_at from rules where id = cast(:id as uuid) for update`;

/** Changes the draft of a rule, its slug or its groups. Published versions stay as they are. Throws `forbidden` as {@link RuleChanges} says. */
export const updateRule = async (
  transaction: Transaction,
  id: string,
  changes: RuleChanges,
  { expectedUpdatedAt }: UpdateConditions = {},
): Promise<UpdateRuleOutcome> => {
  const locked = await lockForUpdate(transaction, id);
  if (locked === undefined) return { status: 'not_found' };
  if (expectedUpdatedAt !== undefined && Date.parse(expectedUpdatedAt) !== locked.updated_at.getTime()) {
    return { status: 'stale', updatedAt: locked.updated_at.toISOString() };
  }
  const before = await findRule(transaction, { id });
  const { columns, bindings } = writeChanges(changes);
  const update = await writeUnlessTaken(transaction, (savepoint) =>
    query(
      savepoint,
      /* sql */ `
      update rules
      set ${changedNow()}, updated_by = app_actor()
        ${columns.map(({ column, expression }) => `, ${column} = ${expression}`).join('')}
      where id = cast(:id as uuid)`,
      { ...bindings, id },
    ),
  );
  if (update.status === 'taken') return { status: 'slug_taken' };
  const rule = await findRule(transaction, { id });
  if (rule === undefined) return { status: 'not_found' };
  const { slug: name, userGroups } = rule;
  await recordChange(transaction, { kind: 'rule', action: 'update', id, name, userGroups, before, after: rule });
  return { status: 'updated', rule, previousSlug: locked.slug };
};

const lockForUpdate = async (
  transaction: Transaction,
  id: string,
): Promise<{ readonly slug: string; readonly updated_at: Date } | undefined> =>
  isUuid(id) ? (await query<{ slug: string; updated_at: Date }>(transaction, LOCK, { id }))[0] : undefined;

const writeChanges = ({
  slug,
  userGroups,
  valueIds,
  ...draft
}: RuleChanges): { columns: readonly ColumnWrite[]; bindings: Bindings } => {
  const { columns, bindings } = writeDraft(draft);
  return {
    columns: [
      ...columns,
      ...(slug === undefined ? [] : [{ column: 'slug', expression: ':slug' }]),
      ...(userGroups === undefined ? [] : [{ column: 'user_groups', expression: 'cast(:user_groups as text[])' }]),
      ...(valueIds === undefined ? [] : [{ column: 'value_ids', expression: 'cast(:value_ids as uuid[])' }]),
    ],
    bindings: { ...bindings, slug: slug ?? null, user_groups: userGroups ?? null, value_ids: valueIds ?? null },
  };
};

/** A version that is gone with its rule. */
interface DeletedVersion {
  readonly id: string;
  readonly number: number;
}

export type DeleteRuleOutcome =
  | {
      readonly status: 'deleted';
      readonly slug: string;
      readonly name: string;
      /** In the order of their numbers. */
      readonly versions: readonly DeletedVersion[];
    }
  /** These releases of the rule wait or are live. */
  | { readonly status: 'released'; readonly slug: string; readonly releases: readonly ReleaseRecord[] }
  /** It is published, and bound to the context of this slug; undefined where the access does not see that. */
  | { readonly status: 'bound'; readonly slug: string; readonly context: string | undefined }
  | { readonly status: 'not_found' };

const VERSIONS = /* sql */ `select id, number from rule_versions where rule_id = cast(:id as uuid) order by number`;
const BINDING = /* sql */ `
  select contexts.slug from rules join contexts on contexts.workspace_id = rules.workspace_id and contexts.slug = rules.context_slug
  where rules.id = cast(:id as uuid) and rules.published_version_id is not null`;
const DELETE = /* sql */ `delete from rules where id = cast(:id as uuid)`;

/**
 * Deletes a rule of which no release waits or is live, and that no context runs, with all its versions and past releases, and answers what is gone. Only its id is
 * remembered, with the last number it gave.
 */
export const deleteRule = async (transaction: Transaction, id: string): Promise<DeleteRuleOutcome> => {
  const locked = await lockRule(transaction, { id });
  if (locked === undefined) return { status: 'not_found' };
  const { slug, name } = locked;
  const releases = await findOpenReleases(transaction, id);
  if (releases.length > 0) return { status: 'released', slug, releases };
  const [binding] = await query<{ slug: string }>(transaction, BINDING, { id });
  if (binding !== undefined) return { status: 'bound', slug, context: binding.slug };
  const [hidden] = await asWorkspace(transaction, () => query(transaction, BINDING, { id }));
  if (hidden !== undefined) return { status: 'bound', slug, context: undefined };
  const versions = await query<DeletedVersion>(transaction, VERSIONS, { id });
  const before = await findRule(transaction, { id });
  await query(transaction, DELETE, { id });
  await recordChange(transaction, {
    kind: 'rule',
    action: 'delete',
    id,
    name: slug,
    userGroups: before?.userGroups ?? [],
    before,
  });
  return { status: 'deleted', slug, name, versions };
};
