import { randomUUID } from 'node:crypto';
import { type RuleTable } from '@decision/contracts';
import {
  deleteAsset,
  findNumberedVersion,
  findAsset,
  findAssetPointer,
  insertAsset,
  loadVersion,
  type NewAsset,
  publishAsset,
  type PublishAssetOutcome,
  type Transaction,
  unpublishAsset,
  updateAsset,
} from '../../src';
import { newRule, priceRow, UNKNOWN_ID } from './rule-fixtures';
import { openTestWorkspace, type TestWorkspace } from '../test-workspace';

describe('publishing', () => {
  let workspace: TestWorkspace;
  beforeAll(async () => {
    workspace = await openTestWorkspace('publishing');
  });
  afterAll(() => workspace.close());

  const inWorkspace = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> =>
    workspace.database.inWorkspace(workspace.access, work);

  const insert = async (parts: Partial<NewAsset<'rule'>> = {}): Promise<NewAsset<'rule'>> => {
    const rule = newRule(parts);
    await inWorkspace((transaction) => insertAsset(transaction, 'rule', rule));
    return rule;
  };
  const publish = (id: string, versionId: string = randomUUID()): Promise<PublishAssetOutcome> =>
    inWorkspace((transaction) => publishAsset(transaction, 'rule', id, { versionId }));
  const pointerOf = (slug: string) => inWorkspace((transaction) => findAssetPointer(transaction, 'rule', slug));
  const numbered = (id: string, number: number) =>
    inWorkspace((transaction) => findNumberedVersion(transaction, id, number));
  const load = (versionId: string): Promise<RuleTable | undefined> =>
    inWorkspace((transaction) => loadVersion(transaction, versionId));

  describe('publishAsset', () => {
    it('numbers versions from 1 and puts the newest in service', async () => {
      const rule = await insert();
      const versionIds = [randomUUID(), randomUUID(), randomUUID()];
      for (const [index, versionId] of versionIds.entries()) {
        const outcome = await publish(rule.id, versionId);
        expect(outcome).toEqual({
          status: 'published',
          slug: rule.slug,
          version: { versionId, version: index + 1, publishedAt: expect.stringMatching(/Z$/) },
        });
        expect(await inWorkspace((transaction) => findAsset(transaction, 'rule', { id: rule.id }))).toMatchObject({
          publishedVersion: index + 1,
          publishedAt: outcome.status === 'published' && outcome.version.publishedAt,
        });
      }
      expect((await pointerOf(rule.slug))?.latest).toEqual({ version: 3, version_id: versionIds[2] });
    });

    it('freezes what decides answers, and nothing that changes later', async () => {
      const rule = await insert({
        groups: { g: { hitPolicy: 'fill' } },
        settings: { strictInput: true },
        metadata: { a: 1 },
      });
      const { requestSchema, responseSchema, conditions, groups, settings } = rule;
      const versionId = randomUUID();
      await publish(rule.id, versionId);
      await inWorkspace((transaction) =>
        updateAsset(transaction, 'rule', rule.id, { conditions: [], groups: {}, name: 'Changed' }),
      );
      expect(await load(versionId)).toEqual({ requestSchema, responseSchema, conditions, groups, settings });
      await publish(rule.id);
      expect(await load(versionId)).toMatchObject({ conditions });
    });

    it('gives different numbers to all who publish at once', async () => {
      const rule = await insert();
      const outcomes = await Promise.all(Array.from({ length: 12 }, () => publish(rule.id)));
      const versions = outcomes.map((outcome) => (outcome.status === 'published' ? outcome.version.version : 0));
      expect([...versions].sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
      expect((await pointerOf(rule.slug))?.latest?.version).toBe(12);
    });

    it('does not deadlock with changes of the same rule', async () => {
      const rule = await insert();
      const changeAndPublish = (price: number) =>
        inWorkspace(async (transaction) => {
          await updateAsset(transaction, 'rule', rule.id, { conditions: [priceRow(1, price)] });
          const versionId = randomUUID();
          await publishAsset(transaction, 'rule', rule.id, { versionId });
          return { versionId, price };
        });
      const made = await Promise.all(
        Array.from({ length: 12 }, async (_, price) =>
          price % 2 ? changeAndPublish(price) : (await publish(rule.id), undefined),
        ),
      );
      for (const entry of made) {
        if (entry) expect((await load(entry.versionId))?.conditions).toEqual([priceRow(1, entry.price)]);
      }
    });

    it('answers what the first call made when it is repeated under the same version id', async () => {
      const rule = await insert();
      const versionId = randomUUID();
      const first = await publish(rule.id, versionId);
      await publish(rule.id);
      expect(await publish(rule.id, versionId)).toEqual(first);
      expect((await pointerOf(rule.slug))?.latest?.version).toBe(2);
    });

    it('leaves no version behind when its transaction fails', async () => {
      const rule = await insert();
      const versionId = randomUUID();
      const failing = inWorkspace(async (transaction) => {
        await publishAsset(transaction, 'rule', rule.id, { versionId });
        throw new Error('The caller failed.');
      });
      await expect(failing).rejects.toThrow('The caller failed.');
      expect(await load(versionId)).toBeUndefined();
      expect(await publish(rule.id)).toMatchObject({ version: { version: 1 } });
    });

    it.each([UNKNOWN_ID, 'not-a-uuid'])('answers not_found for the id "%s"', async (id) => {
      expect(await publish(id)).toEqual({ status: 'not_found' });
    });
  });

  describe('unpublishAsset', () => {
    it('keeps the versions, and the next publication goes on counting', async () => {
      const rule = await insert();
      const versionId = randomUUID();
      await publish(rule.id, versionId);
      for (let time = 0; time < 2; time += 1) {
        expect(await inWorkspace((transaction) => unpublishAsset(transaction, 'rule', rule.id))).toEqual({
          status: 'unpublished',
          slug: rule.slug,
        });
      }
      expect(await load(versionId)).toBeDefined();
      expect(await publish(rule.id)).toMatchObject({ version: { version: 2 } });
      expect(await numbered(rule.id, 1)).toEqual({ version_id: versionId });
    });

    it.each([UNKNOWN_ID, 'not-a-uuid'])('answers not_found for the id "%s"', async (id) => {
      expect(await inWorkspace((transaction) => unpublishAsset(transaction, 'rule', id))).toEqual({
        status: 'not_found',
      });
    });
  });

  describe('the entries that services cache', () => {
    it('have the pointer of a slug, with or without a published version', async () => {
      const rule = await insert({ userGroups: ['sales'] });
      expect(await pointerOf(rule.slug)).toEqual({ rule_id: rule.id, user_groups: ['sales'], latest: null, pins: {} });
      const [first, second] = [randomUUID(), randomUUID()];
      await publish(rule.id, first);
      await publish(rule.id, second);
      const latest = { version: 2, version_id: second };
      expect(await pointerOf(rule.slug)).toEqual({ rule_id: rule.id, user_groups: ['sales'], latest, pins: {} });
    });

    it('have no latest version after unpublishing', async () => {
      const rule = await insert();
      await publish(rule.id);
      await inWorkspace((transaction) => unpublishAsset(transaction, 'rule', rule.id));
      expect(await pointerOf(rule.slug)).toMatchObject({ latest: null, pins: {} });
    });

    it('have no pointer of a slug that is unknown, or whose rule is deleted', async () => {
      const rule = await insert();
      await publish(rule.id);
      await inWorkspace((transaction) => deleteAsset(transaction, 'rule', rule.id));
      expect(await pointerOf(rule.slug)).toBeUndefined();
      expect(await pointerOf('unknown')).toBeUndefined();
    });

    it('have the version behind each number', async () => {
      const rule = await insert();
      const [first, second] = [randomUUID(), randomUUID()];
      await publish(rule.id, first);
      await publish(rule.id, second);
      expect(await numbered(rule.id, 1)).toEqual({ version_id: first });
      expect(await numbered(rule.id, 2)).toEqual({ version_id: second });
      expect(await numbered('not-a-uuid', 1)).toBeUndefined();
    });

    it.each([2, 0, -1, 1.5, Number.NaN, Infinity, 2 ** 31, 2 ** 53, 1e300])('have no version %p', async (number) => {
      const rule = await insert();
      await publish(rule.id);
      expect(await numbered(rule.id, number)).toBeUndefined();
    });
  });

  describe('loadVersion', () => {
    it.each([UNKNOWN_ID, 'not-a-uuid', ''])('finds nothing behind "%s"', async (versionId) => {
      expect(await load(versionId)).toBeUndefined();
    });
  });
});
