import { type AssetKind } from '@decision/contracts';
import { type Change } from '../audit/change';
import { recordChange } from '../audit/record-change';
import { changedNow } from '../connection/changed-now';
import { query, type Transaction } from '../connection/query';
import { isUuid } from '../connection/uuid';
import { lockAsset, type AssetName } from '../assets/assets';

/** The tests in the draft of a rule or flow. */
interface TestSuite {
  readonly assetId: string;
  readonly tests: readonly Readonly<Record<string, unknown>>[];
}

interface SuiteRow {
  readonly id: string;
  readonly test_suite: Record<string, unknown>[];
}

const BY_ID = /* sql */ `select id, test_suite from assets where id = cast(:id as uuid)`;
const BEFORE = /* sql */ `select kind, slug, user_groups, test_suite from assets where id = cast(:id as uuid)`;
const BY_SLUG = /* sql */ `select id, test_suite from assets where slug = :slug and kind = :kind`;

const SAVE_SUITE = /* sql */ `
  update assets
  set test_suite = cast(:tests as json), updated_by = app_actor(),
    ${changedNow()}
  where id = cast(:id as uuid)`;

/** The tests of a rule or flow, without its rows or nodes; undefined if none of the kind is visible. */
export const findTestSuite = async (
  transaction: Transaction,
  kind: AssetKind,
  slug: string,
): Promise<TestSuite | undefined> => {
  const [row] = await query<SuiteRow>(transaction, BY_SLUG, { kind, slug });
  return row && { assetId: row.id, tests: row.test_suite };
};

/** The tests of a rule or flow that stays locked until the transaction ends. */
export const findTestSuiteForChange = async (
  transaction: Transaction,
  kind: AssetKind,
  name: AssetName,
): Promise<TestSuite | undefined> => {
  const asset = await lockAsset(transaction, kind, name);
  if (asset === undefined) return undefined;
  const [row] = await query<SuiteRow>(transaction, BY_ID, { id: asset.id });
  return row && { assetId: row.id, tests: row.test_suite };
};

/** Replaces the tests of a draft, which counts as a change of it; each changed test is recorded. The asset must be locked. */
export const saveTestSuite = async (transaction: Transaction, { assetId, tests }: TestSuite): Promise<void> => {
  const [asset] = await query<OwningAsset>(transaction, BEFORE, { id: assetId });
  if (asset === undefined) return;
  await query(transaction, SAVE_SUITE, { id: assetId, tests: JSON.stringify(tests) });
  await recordChange(transaction, changesOf(asset, tests));
};

interface OwningAsset {
  readonly kind: AssetKind;
  readonly slug: string;
  readonly user_groups: string[];
  readonly test_suite: TestSuite['tests'];
}

/** Tests are identified by their ids, as their owner does. */
const changesOf = (
  { kind, slug, user_groups: userGroups, test_suite }: OwningAsset,
  tests: TestSuite['tests'],
): Change[] => {
  const [was, is] = [byId(test_suite), byId(tests)];
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((id) => {
    const [before, after] = [was.get(id), is.get(id)];
    if (JSON.stringify(before) === JSON.stringify(after)) return [];
    const action = before === undefined ? 'create' : after === undefined ? 'delete' : 'update';
    const name = textOf((after ?? before)?.['name']) ?? id;
    const inAsset = (test: TestSuite['tests'][number] | undefined) => test && { [kind]: slug, ...test };
    return [{ kind: `${kind}_test`, action, id, name, userGroups, before: inAsset(before), after: inAsset(after) }];
  });
};

const byId = (tests: TestSuite['tests']): ReadonlyMap<string, TestSuite['tests'][number]> =>
  new Map(tests.map((test, index) => [textOf(test['id']) ?? `test-${index + 1}`, test]));

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Last result of a test. */
export interface TestResult {
  readonly testId: string;
  readonly success: boolean;
  /** Whether the asset could not be evaluated. */
  readonly error: boolean;
  /** JSON: the visible results of the run. */
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
  select test_id, success, error, state, executed_at from asset_test_results where rule_id = cast(:asset_id as uuid)`;

const SAVE_RESULTS = /* sql */ `
  insert into asset_test_results (rule_id, test_id, success, error, state, executed_at)
  select distinct on ("testId") assets.id, "testId", success, error, result.state, "executedAt"
  from assets, json_to_recordset(cast(:results as json))
    as result ("testId" text, success boolean, error boolean, state json, "executedAt" timestamptz)
  where assets.id = cast(:asset_id as uuid)
  order by "testId"
  on conflict (rule_id, test_id) do update
    set success = excluded.success, error = excluded.error, state = excluded.state, executed_at = excluded.executed_at`;

const DELETE = /* sql */ `
  delete from asset_test_results where rule_id = cast(:asset_id as uuid) and test_id = :test_id`;

/** The last results of the tests of a rule or flow, by the id of the test. */
export const findTestResults = async (
  transaction: Transaction,
  assetId: string,
): Promise<ReadonlyMap<string, TestResult>> => {
  const rows = isUuid(assetId) ? await query<ResultRow>(transaction, FIND, { asset_id: assetId }) : [];
  return new Map(
    rows.map(({ test_id, success, error, state, executed_at }) => [
      test_id,
      { testId: test_id, success, error, state, executedAt: executed_at.toISOString() },
    ]),
  );
};

/** Stores results in place of earlier ones, in one statement; none if the asset is not visible. */
export const saveTestResults = async (
  transaction: Transaction,
  assetId: string,
  results: readonly TestResult[],
): Promise<void> => {
  if (results.length > 0)
    await query(transaction, SAVE_RESULTS, { asset_id: assetId, results: JSON.stringify(results) });
};

/** Deletes the result of a test. */
export const deleteTestResult = async (transaction: Transaction, assetId: string, testId: string): Promise<void> => {
  if (isUuid(assetId)) await query(transaction, DELETE, { asset_id: assetId, test_id: testId });
};
