import { randomUUID } from 'node:crypto';
import { checkFlowDefinition, checkRulePointer, type FlowUse } from '@decision/contracts';
import {
  deleteAsset,
  deleteFolder,
  deleteValue,
  findAsset,
  findAssetPointer,
  findBoundAssets,
  findNumberedVersion,
  findTestResults,
  findTestSuite,
  findValueUses,
  goLive,
  insertAsset,
  insertContext,
  insertRelease,
  listAssets,
  listAudit,
  listVersions,
  loadAssetInterface,
  loadFlowVersion,
  loadVersion,
  loadVersionDocument,
  type NewAsset,
  publishAsset,
  publishVersionAgain,
  saveEnvironment,
  saveFolder,
  saveTestResults,
  saveTestSuite,
  saveValues,
  type Transaction,
  unbindAssets,
  unpublishAsset,
  updateAsset,
} from '../../src';
import { findUsingFlows } from '../../src/assets/flow-uses';
import { query } from '../../src/connection/query';
import { asOwner } from '../as-owner';
import { newContext } from '../contexts/context-fixtures';
import { newFlow, newRule, resolved, UNKNOWN_ID } from './rule-fixtures';
import { useTestWorkspace } from '../test-workspace';

const workspace = useTestWorkspace('assets');
const inside = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> => workspace.inside(work);

/** Inserts a rule and publishes it; answers its use by a flow. */
const publishedRule = async (parts: Parameters<typeof newRule>[0] = {}): Promise<FlowUse> => {
  const rule = newRule(parts);
  const versionId = randomUUID();
  await inside(async (transaction) => {
    await insertAsset(transaction, 'rule', rule);
    await publishAsset(transaction, 'rule', rule.id, { versionId });
  });
  return { kind: 'rule', slug: rule.slug, selector: 'latest', asset_id: rule.id, version_id: versionId };
};

/** Inserts a flow and publishes it; answers its use by another flow. */
const publishedFlow = async (
  uses: readonly FlowUse[] = [],
  parts: Partial<NewAsset<'flow'>> = {},
): Promise<FlowUse> => {
  const flow = newFlow(parts);
  const versionId = randomUUID();
  await inside(async (transaction) => {
    await insertAsset(transaction, 'flow', flow);
    await publishAsset(transaction, 'flow', flow.id, { versionId, flow: resolved(...uses) });
  });
  return { kind: 'flow', slug: flow.slug, selector: '1', asset_id: flow.id, version_id: versionId };
};

const loads = (versionId: string): Promise<unknown> =>
  inside(
    async (transaction) =>
      (await loadVersion(transaction, versionId)) ?? (await loadFlowVersion(transaction, versionId)),
  );
const keptVersions = async (): Promise<number> =>
  (await asOwner(workspace.url, 'select id from kept_versions where workspace_id = $1', [workspace.access.workspaceId]))
    .length;

describe('a flow', () => {
  it('is stored, found, changed, published, taken out of service and deleted', async () => {
    const flow = newFlow({ description: 'first', labels: ['offers'] });
    const inserted = await inside((transaction) => insertAsset(transaction, 'flow', flow));
    expect(inserted).toMatchObject({
      status: 'inserted',
      asset: { ...flow, publishedVersion: null, updatedBy: 'tester' },
    });
    const found = await inside((transaction) => findAsset(transaction, 'flow', { slug: flow.slug }));
    expect(found).toEqual(inserted.status === 'inserted' && inserted.asset);
    const graph = { ...flow.graph, connections: [] };
    expect(
      await inside((transaction) => updateAsset(transaction, 'flow', flow.id, { graph, slug: `${flow.slug}-2` })),
    ).toMatchObject({
      status: 'updated',
      previousSlug: flow.slug,
      asset: { graph, description: 'first' },
    });
    const versionId = randomUUID();
    const content = { ...resolved(), reachesOut: true };
    expect(
      await inside((transaction) => publishAsset(transaction, 'flow', flow.id, { versionId, flow: content })),
    ).toMatchObject({ status: 'published', version: { version: 1, versionId } });
    const version = await inside((transaction) => loadFlowVersion(transaction, versionId));
    expect(version).toEqual({
      flow_id: flow.id,
      version: 1,
      definition: {
        requestSchema: content.requestSchema,
        responseSchema: content.responseSchema,
        ...graph,
        settings: {},
        uses: [],
        reaches_out: true,
      },
    });
    expect(checkFlowDefinition(version?.definition)).toMatchObject({ ok: true });
    expect(await inside((transaction) => unpublishAsset(transaction, 'flow', flow.id))).toMatchObject({
      status: 'unpublished',
    });
    expect(await inside((transaction) => findAssetPointer(transaction, 'flow', `${flow.slug}-2`))).toMatchObject({
      latest: null,
    });
    expect(await inside((transaction) => deleteAsset(transaction, 'flow', flow.id))).toMatchObject({
      status: 'deleted',
      versions: [{ id: versionId, number: 1 }],
    });
    expect(await loads(versionId)).toBeUndefined();
  });

  it('says in its pointer and under its numbers whether it reaches out, of which rules say nothing', async () => {
    const flow = await publishedFlow();
    const rule = await publishedRule();
    const [ofFlow, ofRule] = await inside(async (transaction) => [
      await findAssetPointer(transaction, 'flow', flow.slug),
      await findAssetPointer(transaction, 'rule', rule.slug),
    ]);
    expect(ofFlow?.latest).toEqual({ version: 1, version_id: flow.version_id, reaches_out: false });
    expect(ofRule?.latest).toEqual({ version: 1, version_id: rule.version_id });
    for (const pointer of [ofFlow, ofRule]) expect(checkRulePointer(pointer)).toMatchObject({ ok: true });
    expect(await inside((transaction) => findNumberedVersion(transaction, flow.asset_id, 1))).toEqual({
      version_id: flow.version_id,
      reaches_out: false,
    });
  });

  it('may have the slug of a rule, and neither passes for the other', async () => {
    const rule = await publishedRule({ slug: 'same' });
    const flow = await publishedFlow([], { slug: 'same' });
    await inside(async (transaction) => {
      expect(await findAsset(transaction, 'flow', { slug: 'same' })).toMatchObject({ id: flow.asset_id });
      expect(await findAsset(transaction, 'rule', { slug: 'same' })).toMatchObject({ id: rule.asset_id });
      expect(await findAsset(transaction, 'rule', { id: flow.asset_id })).toBeUndefined();
      expect(await findAsset(transaction, 'flow', { id: rule.asset_id })).toBeUndefined();
      expect(await findAssetPointer(transaction, 'flow', 'same')).toMatchObject({ rule_id: flow.asset_id });
      expect(await loadVersion(transaction, flow.version_id)).toBeUndefined();
      expect(await loadFlowVersion(transaction, rule.version_id)).toBeUndefined();
      expect(await loadVersionDocument(transaction, 'rule', flow.version_id)).toBeUndefined();
      expect(await updateAsset(transaction, 'rule', flow.asset_id, { name: 'x' })).toEqual({ status: 'not_found' });
      expect(await deleteAsset(transaction, 'rule', flow.asset_id)).toEqual({ status: 'not_found' });
      expect(await publishAsset(transaction, 'rule', flow.asset_id, { versionId: randomUUID() })).toEqual({
        status: 'not_found',
      });
      expect(await findTestSuite(transaction, 'flow', 'same')).toMatchObject({ assetId: flow.asset_id });
      expect((await listAssets(transaction, 'flow', { slug: 'same' })).assets).toMatchObject([
        { id: flow.asset_id, rowCount: 2, publishedVersion: 1 },
      ]);
      expect((await listAssets(transaction, 'rule', { slug: 'same' })).assets).toMatchObject([{ id: rule.asset_id }]);
      const second = await insertAsset(transaction, 'flow', newFlow({ slug: 'same' }));
      expect(second).toEqual({ status: 'slug_taken' });
      expect(await insertAsset(transaction, 'flow', newFlow({ id: rule.asset_id }))).toEqual({ status: 'id_taken' });
    });
  });

  it('that binds a context is listed with the rules that do, with the interface that was resolved', async () => {
    const binding = { slug: 'orders', version: 'latest' };
    const rule = await publishedRule({ slug: 'bound', context: binding });
    const flow = await publishedFlow([], { slug: 'bound', context: binding });
    await inside(async (transaction) => {
      expect(await findBoundAssets(transaction, 'orders')).toMatchObject([
        { kind: 'rule', id: rule.asset_id, versionId: rule.version_id },
        { kind: 'flow', id: flow.asset_id, versionId: flow.version_id },
      ]);
      expect(await loadAssetInterface(transaction, flow.version_id)).toEqual({
        requestSchema: resolved().requestSchema,
        responseSchema: [{ key: 'price', type: 'number' }],
      });
    });
  });

  it('uses values as a rule does, and keeps them from being deleted', async () => {
    const saved = await inside((transaction) =>
      saveValues(transaction, [{ name: 'rate', type: 'number', content: 1 }], { newUserGroups: [] }),
    );
    const valueId = saved.status === 'saved' ? (saved.values[0]?.id ?? '') : '';
    const flow = await publishedFlow([], { valueIds: [valueId] });
    await inside((transaction) => updateAsset(transaction, 'flow', flow.asset_id, { valueIds: [] }));
    expect(await inside((transaction) => findValueUses(transaction, [valueId]))).toMatchObject([
      { assetId: flow.asset_id, asset: { kind: 'flow', slug: flow.slug } },
    ]);
    expect(await inside((transaction) => deleteValue(transaction, valueId))).toMatchObject({ status: 'in_use' });
  });
});

describe('what rules and flows have in common', () => {
  it('lists take the same filters, page by page', async () => {
    const parts = { labels: ['common', 'both'], folder: { id: 'f', name: 'Offers' }, name: 'Shared name' };
    await publishedRule(parts);
    const flows = [await publishedFlow([], parts), await publishedFlow([], { ...parts, userGroups: ['sales'] })];
    const ids = flows.map(({ asset_id }) => asset_id);
    for (const filters of [
      { labels: ['common', 'both'] },
      { folder: 'Offers' },
      { folder: 'f' },
      { name: 'Shared name' },
      { search: 'SHARED' },
    ]) {
      const { assets } = await inside((transaction) => listAssets(transaction, 'flow', filters));
      expect(assets.map(({ id }) => id).sort()).toEqual([...ids].sort());
    }
    const first = await inside((transaction) => listAssets(transaction, 'flow', { name: 'Shared name' }, { limit: 1 }));
    const cursor = first.nextCursor ?? '';
    const second = await inside((transaction) =>
      listAssets(transaction, 'flow', { name: 'Shared name' }, { limit: 1, cursor }),
    );
    expect([...first.assets, ...second.assets].map(({ id }) => id)).toEqual([...ids].reverse());
    expect(second.nextCursor).toBeNull();
  });

  it('tests and their results are those of one asset, and are in the audit under its kind', async () => {
    const flow = await publishedFlow();
    const tests = [{ id: 'one', name: 'First' }];
    const result = { testId: 'one', success: true, error: false, state: {}, executedAt: '2026-01-15T09:30:00.000Z' };
    await inside(async (transaction) => {
      await saveTestSuite(transaction, { assetId: flow.asset_id, tests });
      await saveTestResults(transaction, flow.asset_id, [result]);
      expect(await findTestSuite(transaction, 'flow', flow.slug)).toEqual({ assetId: flow.asset_id, tests });
      expect([...(await findTestResults(transaction, flow.asset_id)).values()]).toEqual([result]);
      const { entries } = await listAudit(transaction, { kind: 'flow_test' }, { limit: 9 });
      expect(entries).toMatchObject([{ action: 'create', after: { flow: flow.slug, name: 'First' } }]);
    });
  });

  it('a flow that is live is neither deleted nor taken out of service', async () => {
    const flow = await publishedFlow();
    await inside(async (transaction) => {
      const settings = { slug: 'live-here', approvers: [], approvalScheme: 'any', directReleases: true } as const;
      const made = await saveEnvironment(transaction, settings);
      if (made.status !== 'saved') throw new Error(made.status);
      const { environment } = made;
      const wanted = { assetId: flow.asset_id, versionId: flow.version_id, environment, note: null };
      const origin = { id: randomUUID(), source: 'direct', sourceReleaseId: null } as const;
      const outcome = await insertRelease(transaction, { ...wanted, ...origin });
      if (outcome.status === 'inserted') await goLive(transaction, outcome.release);
      const refusal = { status: 'released', slug: flow.slug, releases: [{ state: 'live', asset: { kind: 'flow' } }] };
      expect(await deleteAsset(transaction, 'flow', flow.asset_id)).toMatchObject(refusal);
      expect(await unpublishAsset(transaction, 'flow', flow.asset_id)).toMatchObject(refusal);
    });
  });

  it('a published flow that a context runs is not deleted, and is freed with the context', async () => {
    const context = newContext({ slug: 'customers' });
    await inside((transaction) => insertContext(transaction, context));
    const flow = await publishedFlow([], { context: { slug: 'customers' } });
    await inside(async (transaction) => {
      const refusal = { status: 'bound', slug: flow.slug, context: 'customers' };
      expect(await deleteAsset(transaction, 'flow', flow.asset_id)).toEqual(refusal);
      expect(await unbindAssets(transaction, 'customers')).toEqual({ rule: [], flow: [flow.slug] });
      expect(await deleteAsset(transaction, 'flow', flow.asset_id)).toMatchObject({ status: 'deleted' });
    });
  });

  it('both leave a folder that is deleted', async () => {
    const saved = await inside((transaction) =>
      saveFolder(transaction, { name: 'F', type: 'flow', newUserGroups: [] }),
    );
    const id = saved.status === 'saved' ? saved.folder.id : '';
    const [rule, flow] = [await publishedRule({ folder: { id } }), await publishedFlow([], { folder: { id } })];
    await inside(async (transaction) => {
      await deleteFolder(transaction, id);
      expect(await findAsset(transaction, 'rule', { id: rule.asset_id })).toMatchObject({ folder: null });
      expect(await findAsset(transaction, 'flow', { id: flow.asset_id })).toMatchObject({ folder: null });
    });
  });
});

describe('versions that flows use', () => {
  it('are named by the flows that the access sees', async () => {
    const rule = await publishedRule();
    const flow = await publishedFlow([rule], { userGroups: ['sales'] });
    const using = (access = workspace.access) =>
      workspace.database.inWorkspace(access, (transaction) => findUsingFlows(transaction, rule.asset_id));
    expect(await using()).toEqual([{ id: flow.asset_id, slug: flow.slug, name: 'Parcel offer', versions: [1] }]);
    expect(await using(workspace.restrictedTo('sales'))).toHaveLength(1);
    expect(await using(workspace.restrictedTo('ops'))).toEqual([]);
  });

  it('load after their rule is deleted, until the last flow that uses them is deleted', async () => {
    const rule = await publishedRule({ userGroups: ['sales'] });
    const unused = randomUUID();
    await inside((transaction) => publishAsset(transaction, 'rule', rule.asset_id, { versionId: unused }));
    const [first, second] = [await publishedFlow([rule]), await publishedFlow([rule])];
    const table = await loads(rule.version_id);
    expect(await inside((transaction) => deleteAsset(transaction, 'rule', rule.asset_id))).toMatchObject({
      status: 'deleted',
    });
    expect(await loads(rule.version_id)).toEqual(table);
    expect(await loads(unused)).toBeUndefined();
    const see = (group: string) =>
      workspace.database.inWorkspace(workspace.restrictedTo(group), (transaction) =>
        loadVersion(transaction, rule.version_id),
      );
    expect(await see('sales')).toEqual(table);
    expect(await see('ops')).toBeUndefined();
    await inside((transaction) => deleteAsset(transaction, 'flow', first.asset_id));
    expect(await loads(rule.version_id)).toEqual(table);
    await inside((transaction) => deleteAsset(transaction, 'flow', second.asset_id));
    expect(await loads(rule.version_id)).toBeUndefined();
  });

  it('load after the previous release deleted their rule', async () => {
    const rule = await publishedRule();
    const flow = await publishedFlow([rule]);
    await inside((transaction) =>
      query(transaction, 'delete from rules where id = cast(:id as uuid)', { id: rule.asset_id }),
    );
    expect(await loads(rule.version_id)).toBeDefined();
    await inside((transaction) => deleteAsset(transaction, 'flow', flow.asset_id));
    expect(await loads(rule.version_id)).toBeUndefined();
  });

  it('stay through a chain of deleted flows, and go all together', async () => {
    const before = await keptVersions();
    const rule = await publishedRule();
    const inner = await publishedFlow([rule]);
    const middle = await publishedFlow([inner]);
    const outer = await publishedFlow([middle]);
    await inside((transaction) => deleteAsset(transaction, 'flow', inner.asset_id));
    await inside((transaction) => deleteAsset(transaction, 'rule', rule.asset_id));
    await inside((transaction) => deleteAsset(transaction, 'flow', middle.asset_id));
    for (const { version_id } of [rule, inner, middle]) expect(await loads(version_id)).toBeDefined();
    expect(await keptVersions()).toBe(before + 3);
    await inside((transaction) => deleteAsset(transaction, 'flow', outer.asset_id));
    for (const { version_id } of [rule, inner, middle, outer]) expect(await loads(version_id)).toBeUndefined();
    expect(await keptVersions()).toBe(before);
  });

  it('are used by a version that was published again as by its source', async () => {
    const rule = await publishedRule();
    const flow = await publishedFlow([rule]);
    const again = randomUUID();
    await inside(async (transaction) => {
      await publishVersionAgain(transaction, 'flow', {
        assetId: flow.asset_id,
        sourceId: flow.version_id,
        versionId: again,
      });
      expect(await listVersions(transaction, flow.asset_id, { limit: 9 })).toMatchObject([
        { version: 2, versionId: again },
        { version: 1 },
      ]);
      expect(await findUsingFlows(transaction, rule.asset_id)).toMatchObject([{ versions: [2, 1] }]);
      expect((await findAssetPointer(transaction, 'flow', flow.slug))?.latest).toEqual({
        version: 2,
        version_id: again,
        reaches_out: false,
      });
      const { definition } = (await loadFlowVersion(transaction, again)) ?? {};
      expect(definition?.uses).toEqual([rule]);
    });
  });

  it('prevent the publication if they no longer exist, and are named', async () => {
    const rule = await publishedRule();
    const gone: FlowUse = { ...rule, slug: 'gone', version_id: UNKNOWN_ID };
    const flow = newFlow();
    await inside((transaction) => insertAsset(transaction, 'flow', flow));
    const outcome = await inside((transaction) =>
      publishAsset(transaction, 'flow', flow.id, { versionId: randomUUID(), flow: resolved(rule, gone) }),
    );
    expect(outcome).toEqual({ status: 'uses_gone', slug: flow.slug, uses: [gone] });
    expect(await inside((transaction) => findAsset(transaction, 'flow', { id: flow.id }))).toMatchObject({
      publishedVersion: null,
    });
  });

  it('of another workspace do not exist', async () => {
    const stranger = await workspace.addWorkspace('stranger');
    const theirs = newRule();
    const versionId = randomUUID();
    await workspace.database.inWorkspace(stranger, async (transaction) => {
      await insertAsset(transaction, 'rule', theirs);
      await publishAsset(transaction, 'rule', theirs.id, { versionId });
    });
    const use: FlowUse = { kind: 'rule', slug: theirs.slug, selector: '1', asset_id: theirs.id, version_id: versionId };
    const flow = newFlow();
    await inside((transaction) => insertAsset(transaction, 'flow', flow));
    expect(
      await inside((transaction) =>
        publishAsset(transaction, 'flow', flow.id, { versionId: randomUUID(), flow: resolved(use) }),
      ),
    ).toMatchObject({ status: 'uses_gone' });
  });

  it.each(Array.from({ length: 12 }, (_, round) => [round] as const))(
    'are kept or refused, never lost, if the rule is deleted while flows are published and deleted (round %i)',
    async () => {
      const rule = await publishedRule();
      const [former, flow] = [await publishedFlow([rule]), newFlow()];
      await inside((transaction) => insertAsset(transaction, 'flow', flow));
      const versionId = randomUUID();
      const [published] = await Promise.all([
        inside((transaction) => publishAsset(transaction, 'flow', flow.id, { versionId, flow: resolved(rule) })),
        inside((transaction) => deleteAsset(transaction, 'rule', rule.asset_id)),
        inside((transaction) => deleteAsset(transaction, 'flow', former.asset_id)),
      ]);
      const isThere = (await loads(rule.version_id)) !== undefined;
      expect(isThere).toBe(published.status === 'published');
      await inside((transaction) => deleteAsset(transaction, 'flow', flow.id));
      expect(await loads(rule.version_id)).toBeUndefined();
    },
  );

  it('are not kept of a workspace that is deleted', async () => {
    const doomed = await workspace.addWorkspace('doomed');
    const [rule, flow, versionId] = [newRule(), newFlow(), randomUUID()];
    await workspace.database.inWorkspace(doomed, async (transaction) => {
      await insertAsset(transaction, 'rule', rule);
      await publishAsset(transaction, 'rule', rule.id, { versionId });
      await insertAsset(transaction, 'flow', flow);
      const use = { kind: 'rule', slug: rule.slug, selector: '1', asset_id: rule.id, version_id: versionId } as const;
      await publishAsset(transaction, 'flow', flow.id, { versionId: randomUUID(), flow: resolved(use) });
      await deleteAsset(transaction, 'rule', rule.id);
      expect(await loadVersion(transaction, versionId)).toBeDefined();
    });
    await asOwner(workspace.url, 'delete from workspaces where id = $1', [doomed.workspaceId]);
    for (const table of ['flow_uses', 'kept_versions', 'assets', 'asset_versions'])
      expect(
        await asOwner(workspace.url, `select 1 from ${table} where workspace_id = $1`, [doomed.workspaceId]),
      ).toEqual([]);
  });
});
