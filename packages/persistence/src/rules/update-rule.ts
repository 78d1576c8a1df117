import { recordChange } from '../audit/record-change';
import { type Bindings, query, type Transaction } from '../connection/query';
import { writeUnlessTaken } from '../connection/unique-violation';
import { isUuid } from '../connection/uuid';
import { type ColumnWrite, writeDraft } from './draft-columns';
import { findRule } from './find-rule';
import { type RuleDraft, type RuleRecord } from './rule-record';

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
  const locked = await lockRule(transaction, id);
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
      set updated_at = greatest(clock_timestamp(), updated_at + interval '1 millisecond'), updated_by = app_actor()
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

const lockRule = async (
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
