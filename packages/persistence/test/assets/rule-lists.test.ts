import {
  insertAsset,
  listAssets,
  type NewAsset,
  type PageRequest,
  publishAsset,
  type AssetFilters,
  type AssetList,
  type Transaction,
} from '../../src';
import { newRule, priceRow, UNKNOWN_ID } from './rule-fixtures';
import { asOwner } from '../as-owner';
import { openTestWorkspace, type TestWorkspace } from '../test-workspace';

describe('lists of rules', () => {
  let workspace: TestWorkspace;
  const parcel = newRule({
    slug: 'parcel-price',
    name: 'Parcel price',
    description: 'Costs 100% of_it',
    labels: ['shipping', 'eu'],
    userGroups: ['sales', 'ops'],
    conditions: [priceRow(1, 1), priceRow(2, 2)],
    metadata: { owner: 'logistics' },
    folder: { name: 'Shipping' },
  });
  const letter = newRule({
    slug: 'letter-price',
    name: 'Letter price',
    labels: ['shipping'],
    userGroups: ['sales'],
    conditions: [],
  });
  const refund = newRule({ slug: 'refund', name: 'Refund', description: 'Back\\slash' });

  beforeAll(async () => {
    workspace = await openTestWorkspace('rule_lists');
    for (const rule of [parcel, letter, refund])
      await inWorkspace((transaction) => insertAsset(transaction, 'rule', rule));
    await inWorkspace((transaction) => publishAsset(transaction, 'rule', parcel.id, { versionId: UNKNOWN_ID }));
  });
  afterAll(() => workspace.close());

  const inWorkspace = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> =>
    workspace.database.inWorkspace(workspace.access, work);
  const list = (filters: AssetFilters, page?: PageRequest): Promise<AssetList<'rule'>> =>
    inWorkspace((transaction) => listAssets(transaction, 'rule', filters, page));
  const slugs = ({ assets: rules }: AssetList<'rule'>): readonly string[] => rules.map(({ slug }) => slug);

  describe('listAssets', () => {
    it('lists all rules without filters and page, newest first, without rows', async () => {
      const all = await list({});
      expect(slugs(all)).toEqual(['refund', 'letter-price', 'parcel-price']);
      expect(all.nextCursor).toBeNull();
      expect(all.assets[2]).toEqual({
        id: parcel.id,
        slug: 'parcel-price',
        name: 'Parcel price',
        description: 'Costs 100% of_it',
        labels: ['shipping', 'eu'],
        userGroups: ['sales', 'ops'],
        folder: { name: 'Shipping' },
        requestSchema: parcel.requestSchema,
        responseSchema: parcel.responseSchema,
        metadata: { owner: 'logistics' },
        context: null,
        rowCount: 2,
        publishedVersion: 1,
        publishedAt: expect.stringMatching(/Z$/),
        createdAt: expect.stringMatching(/Z$/),
        updatedAt: expect.stringMatching(/Z$/),
        updatedBy: 'tester',
      });
      expect(all.assets[1]).toMatchObject({ rowCount: 0, publishedVersion: null, publishedAt: null });
    });

    it.each<[AssetFilters, readonly string[]]>([
      [{ id: parcel.id }, ['parcel-price']],
      [{ id: parcel.id.toUpperCase() }, ['parcel-price']],
      [{ id: UNKNOWN_ID }, []],
      [{ id: 'not-a-uuid' }, []],
      [{ id: '' }, []],
      [{ slug: 'refund' }, ['refund']],
      [{ slug: 'Refund' }, []],
      [{ name: 'Letter price' }, ['letter-price']],
      [{ name: 'letter price' }, []],
      [{ search: 'PRICE' }, ['letter-price', 'parcel-price']],
      [{ search: 'arcel-p' }, ['parcel-price']],
      [{ search: 'costs' }, ['parcel-price']],
      [{ search: '100%' }, ['parcel-price']],
      [{ search: '1%0' }, []],
      [{ search: 'f_i' }, ['parcel-price']],
      [{ search: 'l_tter' }, []],
      [{ search: 'k\\s' }, ['refund']],
      [{ search: '\\' }, ['refund']],
      [{ search: '' }, ['refund', 'letter-price', 'parcel-price']],
      [{ labels: ['shipping'] }, ['letter-price', 'parcel-price']],
      [{ labels: ['eu', 'shipping'] }, ['parcel-price']],
      [{ labels: ['eu', 'us'] }, []],
      [{ labels: [] }, ['refund', 'letter-price', 'parcel-price']],
      [{ userGroup: 'ops' }, ['parcel-price']],
      [{ userGroup: 'sales' }, ['letter-price', 'parcel-price']],
      [{ userGroup: '*' }, []],
      [
        { search: 'price', labels: ['shipping'], userGroup: 'sales', name: 'Parcel price', slug: 'parcel-price' },
        ['parcel-price'],
      ],
      [{ search: 'price', slug: 'refund' }, []],
    ])('with %j lists %j', async (filters, expected) => {
      expect(slugs(await list(filters))).toEqual(expected);
      expect(slugs(await list(filters, { limit: 100 }))).toEqual(expected);
    });

    it('refuses U+0000 in a filter as the client’s mistake', async () => {
      await expect(list({ search: '\u0000' })).rejects.toMatchObject({ code: 'invalid_request' });
    });
  });

  describe('pages of rules', () => {
    let paged: TestWorkspace;
    const made: NewAsset<'rule'>[] = Array.from({ length: 25 }, (_, index) =>
      newRule({ name: index % 2 ? 'odd' : 'even' }),
    );
    beforeAll(async () => {
      paged = await openTestWorkspace('rule_pages');
      await paged.database.inWorkspace(paged.access, async (transaction) => {
        for (const rule of made) await insertAsset(transaction, 'rule', rule);
      });
      // Most in the same moment, where the id decides the order.
      await asOwner(
        paged.url,
        `update rules set created_at = '2020-01-01T00:00:00Z' where name = 'odd' or slug < 'rule-8'`,
      );
    });
    afterAll(() => paged.close());

    const readAll = async (filters: AssetFilters, limit: number): Promise<string[]> => {
      const ids: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await paged.database.inWorkspace(paged.access, (transaction) =>
          listAssets(transaction, 'rule', filters, { limit, cursor }),
        );
        expect(page.assets.length).toBeLessThanOrEqual(limit);
        ids.push(...page.assets.map(({ id }) => id));
        cursor = page.nextCursor ?? undefined;
      } while (cursor !== undefined);
      return ids;
    };

    it.each([1, 2, 7, 24, 25, 26, 1000])(
      'of %i hold every rule once, in the order of the whole list',
      async (limit) => {
        const whole = await paged.database.inWorkspace(paged.access, (transaction) =>
          listAssets(transaction, 'rule', {}),
        );
        const ids = whole.assets.map(({ id }) => id);
        expect(new Set(ids)).toEqual(new Set(made.map(({ id }) => id)));
        expect(await readAll({}, limit)).toEqual(ids);
      },
    );

    it('keep to the filters', async () => {
      const odd = made.filter(({ name }) => name === 'odd').map(({ id }) => id);
      expect(new Set(await readAll({ name: 'odd' }, 5))).toEqual(new Set(odd));
    });

    it('go on where they were when rules come and go in between', async () => {
      const first = await paged.database.inWorkspace(paged.access, (transaction) =>
        listAssets(transaction, 'rule', {}, { limit: 10 }),
      );
      await paged.database.inWorkspace(paged.access, (transaction) => insertAsset(transaction, 'rule', newRule()));
      const rest = await paged.database.inWorkspace(paged.access, (transaction) =>
        listAssets(transaction, 'rule', {}, { limit: 100, cursor: first.nextCursor ?? '' }),
      );
      expect(first.assets.length + rest.assets.length).toBe(25);
    });

    it('refuse a cursor that was made up', async () => {
      const reading = paged.database.inWorkspace(paged.access, (transaction) =>
        listAssets(transaction, 'rule', {}, { limit: 1, cursor: 'x' }),
      );
      await expect(reading).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining('cursor'),
      });
    });
  });
});
