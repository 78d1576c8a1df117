import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';

/** Last result of a test. */
export interface TestResult {
  readonly testId: string;
  readonly success: boolean;
  /** Whether the rule could not be evaluated. */
  readonly error: boolean;
  /** JSON: what there is to see about the run. */
  readonly state: unknown;
  /** ISO 8601 UTC with milliseconds. */
  readonly executedAt: string;
}

interface ResultRow {
  readonly test_id: string;
  readonly success: boolean;
  readonly error: boolean;
  readonly state: unknown;
  readonly executed_at: Date;
}

const FIND = /* sql */ `
  select test_id, success, error, state, executed_at from rule_test_results where rule_id = cast(:rule_id as uuid)`;

const SAVE = /* sql */ `
  insert into rule_test_results (rule_id, test_id, success, error, state, executed_at)
  select distinct on ("testId") rules.id, "testId", success, error, result.state, "executedAt"
  from rules, json_to_recordset(cast(:results as json))
    as result ("testId" text, success boolean, error boolean, state json, "executedAt" timestamptz)
  where rules.id = cast(:rule_id as uuid)
  order by "testId"
  on conflict (rule_id, test_id) do update
    set success = excluded.success, error = excluded.error, state = excluded.state, executed_at = excluded.executed_at`;

const DELETE = /* sql */ `
  delete from rule_test_results where rule_id = cast(:rule_id as uuid) and test_id = :test_id`;

/** The last results of the tests of a rule, by the id of the test. */
export const findTestResults = async (
  transaction: Transaction,
  ruleId: string,
): Promise<ReadonlyMap<string, TestResult>> => {
  const rows = isUuid(ruleId) ? await query<ResultRow>(transaction, FIND, { rule_id: ruleId }) : [];
  return new Map(
    rows.map(({ test_id, success, error, state, executed_at }) => [
      test_id,
      { testId: test_id, success, error, state, executedAt: executed_at.toISOString() },
    ]),
  );
};

/** Keeps results in place of earlier ones, in one statement; none where the rule is not visible. */
export const saveTestResults = async (
  transaction: Transaction,
  ruleId: string,
  results: readonly TestResult[],
): Promise<void> => {
  if (results.length > 0) await query(transaction, SAVE, { rule_id: ruleId, results: JSON.stringify(results) });
};

/** Forgets the result of a test. */
export const deleteTestResult = async (transaction: Transaction, ruleId: string, testId: string): Promise<void> => {
  if (isUuid(ruleId)) await query(transaction, DELETE, { rule_id: ruleId, test_id: testId });
};
