import { type RuleRecord } from '@decision/persistence';

/** Names a state of a draft: it changes with every change. */
export const ruleEtag = ({ updatedAt }: Pick<RuleRecord, 'updatedAt'>): string => `"${updatedAt}"`;

/** A caller's expectation of a rule before a change. */
export interface Expectation {
  /** ISO 8601: the `updatedAt` that the caller has seen. */
  readonly updatedAt?: string | undefined;
  /** The header `if-match`: entity tags, or `*` for any state. */
  readonly ifMatch?: string | undefined;
}

/** Whether a caller expects the rule to exist at all. */
export const expectsRule = ({ updatedAt, ifMatch }: Expectation): boolean =>
  updatedAt !== undefined || ifMatch !== undefined;

/** Whether a rule is as the caller expects it. A tag counts as strong where a proxy has made it weak. */
export const isAsExpected = (rule: Pick<RuleRecord, 'updatedAt'>, { updatedAt, ifMatch }: Expectation): boolean => {
  if (updatedAt !== undefined && Date.parse(updatedAt) !== Date.parse(rule.updatedAt)) return false;
  if (ifMatch === undefined || ifMatch.trim() === '*') return true;
  return ifMatch
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
    .includes(ruleEtag(rule));
};
