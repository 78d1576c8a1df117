import { query, type Transaction } from './query';

/**
 * Runs a part of a transaction with the rights of the whole workspace, and gives it those of its access back afterwards. For what decides and is not
 * shown: whether something hidden stands in the way, or what an execution needs. Whoever answers with what it finds says nothing of what the access
 * does not see (docs/specs/visibility.md).
 */
export const asWorkspace = async <T>(transaction: Transaction, work: () => Promise<T>): Promise<T> => {
  const [{ groups } = { groups: '*' }] = await query<{ groups: string }>(transaction, CURRENT);
  if (groups === '*') return work();
  await query(transaction, CLAIM, { groups: '*' });
  // If the work fails, the end of its transaction, or a savepoint, takes the claim back with everything else.
  const result = await work();
  await query(transaction, CLAIM, { groups });
  return result;
};

const CURRENT = /* sql */ `select current_setting('app.user_groups') as groups`;
const CLAIM = /* sql */ `select set_config('app.user_groups', :groups, true)`;
