import {
  findNumberedVersion,
  findRulePointer,
  loadVersionDocument,
  type RuleRecord,
  type Transaction,
  type VersionDocument,
} from '@decision/persistence';
import { nothingLive } from '../releases/release-errors';
import { ruleNotPublished, versionNotFound } from '../rule-errors';

const NUMBER = /^[1-9]\d{0,8}$/;

/** A rule, as far as its versions are concerned. */
type VersionedRule = Pick<RuleRecord, 'id' | 'slug'>;

/**
 * The id of the version that a selector means: `latest`, a number or an environment. Throws `rule_not_published`, `version_not_found` or
 * `environment_not_found`.
 */
const findVersionId = async (transaction: Transaction, rule: VersionedRule, selector: string): Promise<string> => {
  if (NUMBER.test(selector)) {
    const numbered = await findNumberedVersion(transaction, rule.id, Number(selector));
    if (numbered === undefined) throw versionNotFound(rule.slug, selector);
    return numbered.version_id;
  }
  const { latest, pins } = (await findRulePointer(transaction, rule.slug)) ?? { latest: null, pins: {} };
  if (latest === null) throw ruleNotPublished(rule.slug);
  if (selector === 'latest') return latest.version_id;
  const pin = Object.hasOwn(pins, selector) ? pins[selector] : undefined;
  if (pin === undefined) throw nothingLive(rule.slug, selector);
  return pin.version_id;
};

/** The version that a selector means, with everything in it. Throws as {@link findVersionId}. */
export const findVersion = async (
  transaction: Transaction,
  rule: VersionedRule,
  selector: string,
): Promise<VersionDocument> => {
  const version = await loadVersionDocument(transaction, await findVersionId(transaction, rule, selector));
  if (version === undefined) throw versionNotFound(rule.slug, selector);
  return version;
};
