import { randomUUID } from 'node:crypto';
import {
  areSameVersions,
  findAsset,
  insertAsset,
  listVersions,
  loadVersionDocument,
  type NewAsset,
  publishAsset,
  publishVersionAgain,
  type Transaction,
  updateAsset,
} from '../../src';
import { newRule, priceRow, UNKNOWN_ID } from './rule-fixtures';
import { openTestWorkspace, type TestWorkspace } from '../test-workspace';

let workspace: TestWorkspace;
beforeAll(async () => {
  workspace = await openTestWorkspace('rule_versions');
});
afterAll(() => workspace.close());

const inWorkspace = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> =>
  workspace.database.inWorkspace(workspace.access, work);

/** A rule with a version for each price, and the ids of these. */
const publish = async (...prices: number[]): Promise<{ rule: NewAsset<'rule'>; ids: string[] }> => {
  const rule = newRule({ description: 'as it was' });
  const ids = prices.map(() => randomUUID());
  await inWorkspace(async (transaction) => {
    await insertAsset(transaction, 'rule', rule);
    for (const [index, price] of prices.entries()) {
      await updateAsset(transaction, 'rule', rule.id, { conditions: [priceRow(1, price)] });
      await publishAsset(transaction, 'rule', rule.id, { versionId: ids[index] ?? '' });
    }
  });
  return { rule, ids };
};

it('are listed newest first, below a number, up to a limit', async () => {
  const { rule } = await publish(1, 2, 3);
  const list = async (options: { limit: number; before?: number }) =>
    (await inWorkspace((transaction) => listVersions(transaction, rule.id, options))).map(({ version }) => version);
  expect(await list({ limit: 9 })).toEqual([3, 2, 1]);
  expect(await list({ limit: 2 })).toEqual([3, 2]);
  expect(await list({ limit: 9, before: 3 })).toEqual([2, 1]);
  expect(await list({ limit: 9, before: 1 })).toEqual([]);
  expect(await inWorkspace((transaction) => listVersions(transaction, 'nonsense', { limit: 9 }))).toEqual([]);
});

it('hold the whole draft as it was published, whoever changes it later', async () => {
  const { rule, ids } = await publish(1);
  const [id = ''] = ids;
  await inWorkspace((transaction) =>
    updateAsset(transaction, 'rule', rule.id, { description: 'later', conditions: [] }),
  );
  const version = await inWorkspace((transaction) => loadVersionDocument(transaction, 'rule', id));
  expect(version).toMatchObject({
    versionId: id,
    version: 1,
    publishedBy: 'tester',
    definition: { conditions: [priceRow(1, 1)] },
    details: { slug: rule.slug, description: 'as it was' },
  });
  for (const unknown of [UNKNOWN_ID, 'nonsense'])
    expect(await inWorkspace((transaction) => loadVersionDocument(transaction, 'rule', unknown))).toBeUndefined();
});

it('published again are the next version, in service, with the content of the old one', async () => {
  const { rule, ids } = await publish(1, 2);
  const [first = '', second = ''] = ids;
  const again = randomUUID();
  await inWorkspace((transaction) =>
    publishVersionAgain(transaction, 'rule', { assetId: rule.id, sourceId: first, versionId: again }),
  );
  const same = (a: string, b: string) => inWorkspace((transaction) => areSameVersions(transaction, a, b));
  expect(await same(again, first)).toBe(true);
  expect(await same(again, second)).toBe(false);
  expect(await same(again, again)).toBe(true);
  expect(await same(again, UNKNOWN_ID)).toBe(false);
  expect(await inWorkspace((transaction) => findAsset(transaction, 'rule', { id: rule.id }))).toMatchObject({
    publishedVersion: 3,
    conditions: [priceRow(1, 2)],
  });
});

it('does not publish versions of another rule again', async () => {
  const { rule } = await publish(1);
  const other = await publish(9);
  await inWorkspace((transaction) =>
    publishVersionAgain(transaction, 'rule', {
      assetId: rule.id,
      sourceId: other.ids[0] ?? '',
      versionId: randomUUID(),
    }),
  );
  expect(await inWorkspace((transaction) => findAsset(transaction, 'rule', { id: rule.id }))).toMatchObject({
    publishedVersion: 1,
  });
});
