import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import { writeUnlessTaken } from '../connection/unique-violation';
import { writeDraft } from './draft-columns';
import { type RuleDraft, type RuleRecord } from './rule-record';

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
