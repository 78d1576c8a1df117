import { randomUUID } from 'node:crypto';
import {
  deleteAsset,
  findFollowedVersions,
  findOriginRules,
  goLive,
  insertAsset,
  insertRelease,
  loadFlowParts,
  publishAsset,
  saveEnvironment,
  type Transaction,
  unpublishAsset,
} from '../../src';
import { newFlow, newRule, resolved } from './rule-fixtures';
import { useTestWorkspace } from '../test-workspace';

const workspace = useTestWorkspace('followed');
const inside = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> => workspace.inside(work);

const publish = async (ruleId: string): Promise<string> => {
  const versionId = randomUUID();
  await inside((transaction) => publishAsset(transaction, 'rule', ruleId, { versionId }));
  return versionId;
};

it('finds what is in service by each selector, in the order of the question', async () => {
  const rule = newRule({ slug: 'parcel' });
  await inside((transaction) => insertAsset(transaction, 'rule', rule));
  const first = await publish(rule.id);
  const ask = () =>
    inside((transaction) =>
      findFollowedVersions(transaction, [
        { slug: 'nothing', selector: 'latest' },
        { slug: 'parcel', selector: 'production' },
        { slug: 'parcel', selector: 'latest' },
      ]),
    );
  expect(await ask()).toEqual([null, null, first]);
  await inside(async (transaction) => {
    const named = { slug: 'production', name: 'P', level: 1, approvers: [] };
    const saved = await saveEnvironment(transaction, { ...named, approvalScheme: 'any', directReleases: true });
    if (saved.status !== 'saved') throw new Error(saved.status);
    const release = { id: randomUUID(), assetId: rule.id, versionId: first, environment: saved.environment };
    const made = await insertRelease(transaction, { ...release, source: 'direct', sourceReleaseId: null, note: null });
    if (made.status !== 'inserted') throw new Error(made.status);
    await goLive(transaction, made.release);
  });
  const second = await publish(rule.id);
  expect(await ask()).toEqual([null, first, second]);
});

it('finds nothing of a rule that is unpublished, hidden, or a flow', async () => {
  const [rule, flow] = [newRule({ slug: 'letter', userGroups: ['sales'] }), newFlow({ slug: 'offer' })];
  await inside((transaction) => insertAsset(transaction, 'rule', rule));
  await inside((transaction) => insertAsset(transaction, 'flow', flow));
  const versionId = randomUUID();
  await inside((transaction) => publishAsset(transaction, 'flow', flow.id, { versionId, flow: resolved() }));
  const followed = ['letter', 'offer'].map((slug) => ({ slug, selector: 'latest' }));
  const ask = (transaction: Transaction) => findFollowedVersions(transaction, followed);
  expect(await inside(ask)).toEqual([null, null]);
  const published = await publish(rule.id);
  expect(await inside(ask)).toEqual([published, null]);
  expect(await workspace.database.inWorkspace(workspace.restrictedTo('eu'), ask)).toEqual([null, null]);
  await inside((transaction) => unpublishAsset(transaction, 'rule', rule.id));
  expect(await inside(ask)).toEqual([null, null]);
});

it('reads what a flow runs, and goes on to where another flow keeps its version', async () => {
  const [inner, outer] = [newFlow(), newFlow()];
  const [innerVersion, outerVersion] = [randomUUID(), randomUUID()];
  const use = { kind: 'flow' as const, slug: inner.slug, selector: '1', asset_id: inner.id, version_id: innerVersion };
  await inside(async (transaction) => {
    await insertAsset(transaction, 'flow', inner);
    const flow = { ...resolved(), reachesOut: true };
    await publishAsset(transaction, 'flow', inner.id, { versionId: innerVersion, flow });
    await insertAsset(transaction, 'flow', outer);
    await publishAsset(transaction, 'flow', outer.id, { versionId: outerVersion, flow: resolved(use) });
  });
  const parts = (id: string) => inside((transaction) => loadFlowParts(transaction, id));
  expect(await parts(outerVersion)).toEqual({ uses: [use], reachesOut: false });
  expect(await parts(innerVersion)).toEqual({ uses: [], reachesOut: true });
  await inside((transaction) => deleteAsset(transaction, 'flow', inner.id));
  expect(await parts(innerVersion)).toEqual({ uses: [], reachesOut: true });
  await inside((transaction) => deleteAsset(transaction, 'flow', outer.id));
  expect(await parts(innerVersion)).toBeUndefined();
});

it('finds the rules whose input drafts of flows take, as far as they are visible', async () => {
  const [rule, open] = [newRule({ slug: 'origin', userGroups: ['sales'] }), newRule()];
  const graphOf = (name: string) => ({ nodes: [{ ref: 'in', type: 'origin', rule: name }], connections: [] });
  const flow = newFlow({ graph: graphOf('origin'), userGroups: ['eu'] });
  const lost = newFlow({ graph: graphOf('gone') });
  await inside(async (transaction) => {
    for (const one of [rule, open]) await insertAsset(transaction, 'rule', one);
    for (const one of [flow, lost]) await insertAsset(transaction, 'flow', one);
  });
  const ask = (transaction: Transaction) => findOriginRules(transaction, [flow.id, lost.id, rule.id]);
  expect(await inside(ask)).toEqual(new Map([[flow.id, { id: rule.id, name: rule.name, slug: 'origin' }]]));
  expect(await workspace.database.inWorkspace(workspace.restrictedTo('eu'), ask)).toEqual(new Map());
});
