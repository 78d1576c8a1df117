import { type NumberedVersion, type RulePointer } from '@decision/contracts';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';

interface PointerRow {
  readonly id: string;
  readonly user_groups: string[];
  readonly version_id: string | null;
  readonly number: number | null;
  readonly pins: RulePointer['pins'];
}

const POINTER = /* sql */ `
  select rules.id, rules.user_groups, published.id as version_id, published.number,
    coalesce(
      (select json_object_agg(environments.slug, json_build_object('version', pinned.number, 'version_id', pinned.id))
       from releases
       join environments on environments.id = releases.environment_id
       join rule_versions pinned on pinned.id = releases.version_id
       where releases.rule_id = rules.id and releases.state = 'live'),
      '{}'
    ) as pins
  from rules left join rule_versions published on published.id = rules.published_version_id
  where rules.slug = :slug`;

const NUMBERED = /* sql */ `
  select id from rule_versions where rule_id = cast(:rule_id as uuid) and number = :number`;

/** Largest number that a version can have. */
const MAX_NUMBER = 2 ** 31 - 1;

/** Current target of a slug, as services cache it; undefined if no rule of the slug is visible. */
export const findRulePointer = async (transaction: Transaction, slug: string): Promise<RulePointer | undefined> => {
  const [row] = await query<PointerRow>(transaction, POINTER, { slug });
  if (row === undefined) return undefined;
  const { id, user_groups, number, version_id, pins } = row;
  const latest = number === null || version_id === null ? null : { version: number, version_id };
  return { rule_id: id, user_groups, latest, pins };
};

/** The version behind a number of a rule, which never changes; undefined where there is none. */
export const findNumberedVersion = async (
  transaction: Transaction,
  ruleId: string,
  number: number,
): Promise<NumberedVersion | undefined> => {
  if (!isUuid(ruleId) || !Number.isInteger(number) || number < 1 || number > MAX_NUMBER) return undefined;
  const [row] = await query<{ id: string }>(transaction, NUMBERED, { rule_id: ruleId, number });
  return row && { version_id: row.id };
};
