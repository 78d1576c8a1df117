import { query, type Transaction } from '../connection/query';

/** The rules of which something is live, and in how many environments. */
export interface PinnedRule {
  readonly slug: string;
  readonly pins: number;
}

const PINS = /* sql */ `
  select rules.slug, cast(count(*) as integer) as pins
  from releases join rules on rules.id = releases.rule_id
  where releases.state = 'live'
  group by rules.id order by rules.slug`;

/** Every pin that is visible, counted by rule. */
export const findPins = (transaction: Transaction): Promise<readonly PinnedRule[]> =>
  query<PinnedRule>(transaction, PINS);
