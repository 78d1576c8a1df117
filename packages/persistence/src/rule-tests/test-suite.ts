import { type Change } from '../audit/change';
import { recordChange } from '../audit/record-change';
import { query, type Transaction } from '../connection/query';
import { type RuleName } from '../rules/find-rule';
import { lockRule } from '../rules/lock-rule';

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

const SAVE = /* sql */ `
  update rules
  set test_suite = cast(:tests as json), updated_by = app_actor(),
    updated_at = greatest(clock_timestamp(), updated_at + interval '1 millisecond')
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
  await query(transaction, SAVE, { id: ruleId, tests: JSON.stringify(tests) });
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
