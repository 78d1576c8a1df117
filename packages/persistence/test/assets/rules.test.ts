import { randomUUID } from 'node:crypto';
import {
  deleteAsset,
  findNumberedVersion,
  findAsset,
  insertAsset,
  loadVersion,
  type NewAsset,
  publishAsset,
  type RuleRecord,
  type Transaction,
  updateAsset,
} from '../../src';
import { asOwner } from '../as-owner';
import { newRule, priceRow, UNKNOWN_ID } from './rule-fixtures';
import { openTestWorkspace, type TestWorkspace } from '../test-workspace';

describe('rules', () => {
  let workspace: TestWorkspace;
  beforeAll(async () => {
    workspace = await openTestWorkspace('rules');
  });
  afterAll(() => workspace.close());

  const inWorkspace = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> =>
    workspace.database.inWorkspace(workspace.access, work);

  const insert = async (rule: NewAsset<'rule'>): Promise<RuleRecord> => {
    const outcome = await inWorkspace((transaction) => insertAsset(transaction, 'rule', rule));
    if (outcome.status !== 'inserted') throw new Error(`The rule was not inserted: ${outcome.status}`);
    return outcome.asset;
  };

  const find = (id: string): Promise<RuleRecord | undefined> =>
    inWorkspace((transaction) => findAsset(transaction, 'rule', { id }));

  const ISO_TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

  describe('insertAsset', () => {
    it('stores every part of the draft and answers what is stored', async () => {
      const rule = newRule({
        description: 'What a parcel costs',
        labels: ['shipping', 'eu'],
        userGroups: ['sales'],
        folder: { id: 1 },
        groups: { g: { hitPolicy: 'add', accumulators: { price: 'sum' } } },
        settings: { testing: 'continuous' },
        testSuite: [{ name: 'one' }],
        sampleRequest: { weight: 1 },
        sampleResponse: { price: 4.9 },
        testRequest: [1, 'two', null],
        metadata: { owner: 'logistics' },
        context: { slug: 'parcel', version: 'latest' },
      });
      const inserted = await insert(rule);
      expect(inserted).toEqual({
        ...rule,
        publishedVersion: null,
        publishedAt: null,
        createdAt: ISO_TIME,
        updatedAt: inserted.createdAt,
        updatedBy: 'tester',
      });
      expect(await find(rule.id)).toEqual(inserted);
      expect(await inWorkspace((transaction) => findAsset(transaction, 'rule', { slug: rule.slug }))).toEqual(inserted);
    });

    it('answers that the slug is taken, and the transaction goes on', async () => {
      const first = await insert(newRule());
      const second = newRule();
      const outcomes = await inWorkspace(async (transaction) => [
        await insertAsset(transaction, 'rule', newRule({ slug: first.slug })),
        await insertAsset(transaction, 'rule', second),
      ]);
      expect(outcomes).toEqual([{ status: 'slug_taken' }, expect.objectContaining({ status: 'inserted' })]);
      expect(await find(second.id)).toBeDefined();
    });

    it('answers that the id is taken, by a rule of this workspace or of another', async () => {
      const ours = await insert(newRule());
      expect(await inWorkspace((transaction) => insertAsset(transaction, 'rule', newRule({ id: ours.id })))).toEqual({
        status: 'id_taken',
      });
      const stranger = await workspace.addWorkspace('id-taken');
      const outcome = await workspace.database.inWorkspace(stranger, (transaction) =>
        insertAsset(transaction, 'rule', newRule({ id: ours.id, slug: ours.slug })),
      );
      expect(outcome).toEqual({ status: 'id_taken' });
    });

    it('lets two workspaces use one slug', async () => {
      const ours = await insert(newRule());
      const stranger = await workspace.addWorkspace('same-slug');
      const outcome = await workspace.database.inWorkspace(stranger, (transaction) =>
        insertAsset(transaction, 'rule', newRule({ slug: ours.slug })),
      );
      expect(outcome.status).toBe('inserted');
    });

    it('lets one of two win that insert under one slug at once', async () => {
      const slug = newRule().slug;
      const outcomes = await Promise.all(
        Array.from({ length: 4 }, () =>
          inWorkspace((transaction) => insertAsset(transaction, 'rule', newRule({ slug }))),
        ),
      );
      expect(outcomes.map(({ status }) => status).sort()).toEqual([
        'inserted',
        'slug_taken',
        'slug_taken',
        'slug_taken',
      ]);
    });
  });

  describe('hostile documents', () => {
    const prototypeKeys = JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}') as Record<string, unknown>;
    const longKey = 'k'.repeat(100_000);

    it.each<[string, Partial<NewAsset<'rule'>>]>([
      ['keys of the prototype', { metadata: prototypeKeys, sampleRequest: prototypeKeys }],
      [
        'U+0000 and lone surrogates',
        { metadata: { 'a\u0000b': '\u0000' }, sampleRequest: '\ud800 \udfff', conditions: [{ id: 'x\u0000' }] },
      ],
      [
        'every plane of Unicode',
        { metadata: { '☃😀': 'é́ \u202e \uffff' }, name: 'Größe 😀', labels: ['日本', '"', '{}', 'a,b', '\\', 'null'] },
      ],
      ['very long keys', { metadata: { [longKey]: longKey } }],
      ['numbers at their limits', { sampleRequest: [1e308, 5e-324, 2 ** 53, 0.1, -1.5e-7] }],
      ['statements', { name: "'; drop table rules; --", slug: 'it-s', metadata: { ':name': '?', $1: '::text' } }],
      ['empty texts', { name: '', description: '', labels: [''], userGroups: [''] }],
    ])('with %s come back as they were', async (_, parts) => {
      const rule = newRule(parts);
      const stored = await insert(rule);
      expect(await find(rule.id)).toEqual(stored);
      expect(JSON.stringify(stored.metadata)).toBe(JSON.stringify(rule.metadata));
      await inWorkspace((transaction) => publishAsset(transaction, 'rule', rule.id, { versionId: randomUUID() }));
      expect(await find(rule.id)).toMatchObject({ ...rule, publishedVersion: 1 });
    });

    it.each([1_000, 10_000, 200_000])(
      'nested %i deep come back, or are refused as the client’s mistake',
      async (depth) => {
        const rule = newRule({ sampleRequest: JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as unknown });
        const outcome = await inWorkspace((transaction) => insertAsset(transaction, 'rule', rule)).catch(
          (error: unknown) => error,
        );
        const stored = await find(rule.id);
        if (stored) expect(outcome).toMatchObject({ status: 'inserted' });
        else expect(outcome).toMatchObject({ code: 'invalid_request' });
        if (depth !== 10_000) expect(stored === undefined).toBe(depth > 10_000);
      },
    );

    it.each<[string, Partial<NewAsset<'rule'>>]>([
      ['name', { name: 'a\u0000b' }],
      ['description', { description: '\u0000' }],
      ['label', { labels: ['\u0000'] }],
    ])('with U+0000 in the %s are refused as the client’s mistake', async (_, parts) => {
      await expect(insert(newRule(parts))).rejects.toMatchObject({ code: 'invalid_request' });
    });
  });

  describe('updateAsset', () => {
    it('changes the given parts only', async () => {
      const rule = await insert(newRule({ description: 'old', metadata: { a: 1 } }));
      const outcome = await inWorkspace((transaction) =>
        updateAsset(transaction, 'rule', rule.id, { description: null, conditions: [priceRow(1, 1), priceRow(2, 2)] }),
      );
      expect(outcome).toEqual({
        status: 'updated',
        previousSlug: rule.slug,
        asset: { ...rule, description: null, conditions: [priceRow(1, 1), priceRow(2, 2)], updatedAt: ISO_TIME },
      });
      expect(await find(rule.id)).toEqual(outcome.status === 'updated' && outcome.asset);
    });

    it('changes the slug and says what it was', async () => {
      const rule = await insert(newRule());
      const slug = newRule().slug;
      expect(await inWorkspace((transaction) => updateAsset(transaction, 'rule', rule.id, { slug }))).toMatchObject({
        status: 'updated',
        previousSlug: rule.slug,
        asset: { slug },
      });
    });

    it('answers that the slug is taken and changes nothing', async () => {
      const [first, second] = [await insert(newRule()), await insert(newRule())];
      const outcome = await inWorkspace((transaction) =>
        updateAsset(transaction, 'rule', first.id, { slug: second.slug, name: 'New' }),
      );
      expect(outcome).toEqual({ status: 'slug_taken' });
      expect(await find(first.id)).toEqual(first);
    });

    it('moves updatedAt strictly forward, within one transaction too', async () => {
      const rule = await insert(newRule());
      const times = await inWorkspace(async (transaction) => {
        const seen = [rule.updatedAt];
        for (const name of ['a', 'b', 'c', 'd', 'e']) {
          const outcome = await updateAsset(transaction, 'rule', rule.id, { name });
          if (outcome.status === 'updated') seen.push(outcome.asset.updatedAt);
        }
        return seen;
      });
      expect(new Set(times).size).toBe(6);
      expect([...times].sort()).toEqual(times);
    });

    it('moves updatedAt forward even when the clock went back', async () => {
      const rule = await insert(newRule());
      const [ahead] = await asOwner(
        workspace.url,
        `update rules set updated_at = now() + interval '1 hour' where id = $1 returning updated_at`,
        [rule.id],
      );
      const outcome = await inWorkspace((transaction) => updateAsset(transaction, 'rule', rule.id, { name: 'Later' }));
      const updatedAt = outcome.status === 'updated' ? Date.parse(outcome.asset.updatedAt) : 0;
      expect(updatedAt).toBe((ahead?.updated_at as Date).getTime() + 1); // a timestamp column
    });

    it('refuses a change of what has changed since', async () => {
      const rule = await insert(newRule());
      const expectedUpdatedAt = rule.updatedAt;
      const rename = (name: string) =>
        inWorkspace((transaction) => updateAsset(transaction, 'rule', rule.id, { name }, { expectedUpdatedAt }));
      const outcomes = await Promise.all(['a', 'b', 'c', 'd'].map(rename));
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['stale', 'stale', 'stale', 'updated']);
      const current = await find(rule.id);
      expect(await rename('e')).toEqual({ status: 'stale', updatedAt: current?.updatedAt });
      expect(await find(rule.id)).toEqual(current);
    });

    it.each([UNKNOWN_ID, 'not-a-uuid', '', "'; --"])('answers not_found for the id "%s"', async (id) => {
      expect(await inWorkspace((transaction) => updateAsset(transaction, 'rule', id, { name: 'New' }))).toEqual({
        status: 'not_found',
      });
    });
  });

  describe('findAsset', () => {
    it.each([{ id: UNKNOWN_ID }, { id: 'not-a-uuid' }, { slug: 'unknown' }, { slug: '' }])(
      'finds nothing by %p',
      async (name) => {
        expect(await inWorkspace((transaction) => findAsset(transaction, 'rule', name))).toBeUndefined();
      },
    );

    it('refuses a slug with U+0000', async () => {
      await expect(
        inWorkspace((transaction) => findAsset(transaction, 'rule', { slug: '\u0000' })),
      ).rejects.toMatchObject({
        code: 'invalid_request',
      });
    });
  });

  describe('deleteAsset', () => {
    it('removes the rule and its versions and says which they were', async () => {
      const rule = await insert(newRule());
      const versionIds = [randomUUID(), randomUUID()];
      for (const versionId of versionIds) {
        await inWorkspace((transaction) => publishAsset(transaction, 'rule', rule.id, { versionId }));
      }
      expect(await inWorkspace((transaction) => deleteAsset(transaction, 'rule', rule.id))).toEqual({
        status: 'deleted',
        slug: rule.slug,
        usingFlows: [],
        name: rule.name,
        versions: versionIds.map((id, index) => ({ id, number: index + 1 })),
      });
      expect(await find(rule.id)).toBeUndefined();
      expect(await inWorkspace((transaction) => loadVersion(transaction, versionIds[0] ?? ''))).toBeUndefined();
      expect(await inWorkspace((transaction) => deleteAsset(transaction, 'rule', rule.id))).toEqual({
        status: 'not_found',
      });
    });

    it('frees the slug', async () => {
      const rule = await insert(newRule());
      await inWorkspace((transaction) => deleteAsset(transaction, 'rule', rule.id));
      expect((await insert(newRule({ slug: rule.slug }))).slug).toBe(rule.slug);
    });

    it('lets the id be used again, with numbers that were never given before', async () => {
      const rule = newRule();
      await insert(rule);
      await inWorkspace((transaction) => publishAsset(transaction, 'rule', rule.id, { versionId: randomUUID() }));
      await inWorkspace((transaction) => deleteAsset(transaction, 'rule', rule.id));
      await insert(rule);
      expect(await find(rule.id)).toMatchObject({ publishedVersion: null });
      expect(
        await inWorkspace((transaction) => publishAsset(transaction, 'rule', rule.id, { versionId: randomUUID() })),
      ).toMatchObject({
        version: { version: 2 },
      });
      expect(await inWorkspace((transaction) => findNumberedVersion(transaction, rule.id, 1))).toBeUndefined();
    });

    it('keeps the id for its workspace', async () => {
      const rule = newRule();
      await insert(rule);
      await inWorkspace((transaction) => deleteAsset(transaction, 'rule', rule.id));
      const stranger = await workspace.addWorkspace('id-kept');
      expect(
        await workspace.database.inWorkspace(stranger, (transaction) => insertAsset(transaction, 'rule', rule)),
      ).toEqual({
        status: 'id_taken',
      });
    });

    it.each([UNKNOWN_ID, 'not-a-uuid'])('answers not_found for the id "%s"', async (id) => {
      expect(await inWorkspace((transaction) => deleteAsset(transaction, 'rule', id))).toEqual({ status: 'not_found' });
    });
  });

  describe('a rule of 100,000 rows', () => {
    it('is stored, published and loaded whole', async () => {
      const conditions = Array.from({ length: 100_000 }, (_, index) => priceRow(index, index / 100));
      const rule = newRule({ conditions });
      await insert(rule);
      const versionId = randomUUID();
      await inWorkspace((transaction) => publishAsset(transaction, 'rule', rule.id, { versionId }));
      const table = await inWorkspace((transaction) => loadVersion(transaction, versionId));
      expect(table?.conditions).toHaveLength(100_000);
      expect(table?.conditions[99_999]).toEqual(priceRow(99_999, 999.99));
    }, 180_000);
  });
});
