import { query, type Transaction } from '../connection/query';
import {
  environmentColumns,
  type EnvironmentRecord,
  type EnvironmentRow,
  toEnvironmentRecord,
} from './environment-record';

const LIST = /* sql */ `select ${environmentColumns} from environments order by level, slug`;

/** Every environment of the workspace, from the lowest level up; {@link MAX_ENVIRONMENTS} at most. */
export const listEnvironments = async (transaction: Transaction): Promise<readonly EnvironmentRecord[]> =>
  (await query<EnvironmentRow>(transaction, LIST)).map(toEnvironmentRecord);
