import { type Change } from '../audit/change';
import { recordChange } from '../audit/record-change';
import { changedNow } from '../connection/changed-now';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { lockRule, type RuleName } from '../rules/rules';

/** The tests of a rule as its draft holds them. */
interface TestSuite {
  readonly ruleId: string;
  readonly tests: readonly Readonly<Record<string, unknown>>[];
}

interface SuiteRow {
  readonly id: string;
  readonly test_suite: Record<string, unknown>[];
}

const BY_ID = /* sql */ `select id, test_suite from rules where id = cast(:id as uuid)`;
const BEFORE = /* sql */ `select slug, user_groups, test_suite from rules where id = cast(:id as uuid)`;
const BY_SLUG = /* sql */ `select id, test_suite from rules where slug = :slug`;

const SAVE_SUITE = /* sql */ `
  update rules
  set test_suite = cast(:tests as json), updated_by = app_actor(),
    ${changedNow()}
  where id = cast(:id as uuid)`;

/** The tests of a rule, without its rows; undefined where none is visible. */
export const findTestSuite = async (transaction: Transaction, slug: string): Promise<TestSuite | undefined> => {
  const [row] = await query<SuiteRow>(transaction, BY_SLUG, { slug });
  return row && { ruleId: row.id, tests: row.test_suite };
};

/** The tests of a rule that stays locked until the transaction ends. */
export const findTestSuiteForChange = async (
  transaction: Transaction,
  name: RuleName,
): Promise<TestSuite | undefined> => {
  const rule = await lockRule(transaction, name);
  if (rule === undefined) return undefined;
  const [row] = await query<SuiteRow>(transaction, BY_ID, { id: rule.id });
  return row && { ruleId: row.id, tests: row.test_suite };
};

/** Replaces the tests of a draft, which counts as a change of it; each test that differs is recorded. The rule must be locked. */
export const saveTestSuite = async (transaction: Transaction, { ruleId, tests }: TestSuite): Promise<void> => {
  const [rule] = await query<OwningRule>(transaction, BEFORE, { id: ruleId });
  if (rule === undefined) return;
  await query(transaction, SAVE_SUITE, { id: ruleId, tests: JSON.stringify(tests) });
  await recordChange(transaction, changesOf(rule, tests));
};

interface OwningRule {
  readonly slug: string;
  readonly user_groups: string[];
  readonly test_suite: TestSuite['tests'];
}

/** Tests are distinguished by their ids, as their owner does. */
const changesOf = ({ slug, user_groups: userGroups, test_suite }: OwningRule, tests: TestSuite['tests']): Change[] => {
  const [was, is] = [byId(test_suite), byId(tests)];
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((id) => {
    const [before, after] = [was.get(id), is.get(id)];
    if (JSON.stringify(before) === JSON.stringify(after)) return [];
    const action = before === undefined ? 'create' : after === undefined ? 'delete' : 'update';
    const name = textOf((after ?? before)?.['name']) ?? id;
    const inRule = (test: TestSuite['tests'][number] | undefined) => test && { rule: slug, ...test };
    return [{ kind: 'rule_test', action, id, name, userGroups, before: inRule(before), after: inRule(after) }];
  });
};

const byId = (tests: TestSuite['tests']): ReadonlyMap<string, TestSuite['tests'][number]> =>
  new Map(tests.map((test, index) => [textOf(test['id']) ?? `test-${index + 1}`, test]));

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

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

const SAVE_RESULTS = /* sql */ `
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
  if (results.length > 0) await query(transaction, SAVE_RESULTS, { rule_id: ruleId, results: JSON.stringify(results) });
};

/** Forgets the result of a test. */
export const deleteTestResult = async (transaction: Transaction, ruleId: string, testId: string): Promise<void> => {
  if (isUuid(ruleId)) await query(transaction, DELETE, { rule_id: ruleId, test_id: testId });
};
