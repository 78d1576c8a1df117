import { randomUUID } from 'node:crypto';
import { type AssetKind, type FlowUse } from '@decision/contracts';
import fc from 'fast-check';
import { deleteAsset, insertAsset, loadFlowVersion, loadVersion, publishAsset } from '../../src';
import { query } from '../../src/connection/query';
import { asOwner } from '../as-owner';
import { newFlow, newRule, resolved } from './rule-fixtures';
import { useTestWorkspace } from '../test-workspace';

const workspace = useTestWorkspace('kept_versions');

/** A version that was published at some time. */
interface Published {
  readonly kind: AssetKind;
  readonly assetId: string;
  readonly versionId: string;
  readonly uses: readonly Published[];
}

/** The expected content of the database: a version stays while its asset exists, or while a remaining version uses it. */
class Model {
  readonly assets = new Map<string, AssetKind>();
  readonly versions: Published[] = [];

  stays(version: Published): boolean {
    const isUsed = (): boolean => this.versions.some((user) => user.uses.includes(version) && this.stays(user));
    return this.assets.has(version.assetId) || isUsed();
  }
}

/** `pick` chooses one of the existing things. */
type Step =
  | { readonly do: 'rule' }
  | { readonly do: 'flow'; readonly uses: readonly number[] }
  | { readonly do: 'again'; readonly pick: number; readonly uses: readonly number[] }
  | { readonly do: 'delete' | 'delete through the view'; readonly pick: number };

const pick = fc.nat(99);
const uses = fc.array(pick, { maxLength: 3 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('rule' as const) }),
  fc.record({ do: fc.constant('flow' as const), uses }),
  fc.record({ do: fc.constant('again' as const), pick, uses }),
  fc.record({ do: fc.constantFrom('delete' as const, 'delete through the view' as const), pick }),
);

/** Publishes a version that uses some of the versions remaining in the model, none of its own asset. */
const publish = async (model: Model, kind: AssetKind, assetId: string, wanted: readonly number[]): Promise<void> => {
  const usable = model.versions.filter((version) => version.assetId !== assetId && model.stays(version));
  const chosen = kind === 'rule' || usable.length === 0 ? [] : wanted.map((index) => usable[index % usable.length]);
  const used = [...new Set(chosen)].filter((version) => version !== undefined);
  const versionId = randomUUID();
  const named = used.map((version): FlowUse => {
    const { kind: usedKind, assetId: asset_id, versionId: version_id } = version;
    return { kind: usedKind, slug: 'any', selector: version_id, asset_id, version_id };
  });
  const outcome = await workspace.inside((transaction) =>
    kind === 'rule'
      ? publishAsset(transaction, 'rule', assetId, { versionId })
      : publishAsset(transaction, 'flow', assetId, { versionId, flow: resolved(...named) }),
  );
  expect(outcome.status).toBe('published');
  model.versions.push({ kind, assetId, versionId, uses: used });
};

const take = async (model: Model, one: Step): Promise<void> => {
  if (one.do === 'rule' || one.do === 'flow') {
    const asset = one.do === 'rule' ? newRule() : newFlow();
    await workspace.inside(async (transaction) => {
      if ('graph' in asset) await insertAsset(transaction, 'flow', asset);
      else await insertAsset(transaction, 'rule', asset);
    });
    model.assets.set(asset.id, one.do);
    return publish(model, one.do, asset.id, one.do === 'flow' ? one.uses : []);
  }
  const [id, kind] = [...model.assets][one.pick % Math.max(model.assets.size, 1)] ?? [];
  if (id === undefined || kind === undefined) return;
  if (one.do === 'again') return publish(model, kind, id, one.uses);
  await workspace.inside(async (transaction) => {
    if (one.do === 'delete') await deleteAsset(transaction, kind, id);
    else await query(transaction, 'delete from rules where id = cast(:id as uuid)', { id });
  });
  if (one.do === 'delete' || kind === 'rule') model.assets.delete(id);
};

const loads = ({ kind, versionId }: Published): Promise<boolean> =>
  workspace.inside(async (transaction) => {
    const found = await (kind === 'rule' ? loadVersion : loadFlowVersion)(transaction, versionId);
    return found !== undefined;
  });

it('a version loads exactly while its asset is there or a version that loads uses it, whoever deletes what in which order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24 }), async (steps) => {
      const model = new Model();
      for (const one of steps) await take(model, one);
      for (const version of model.versions) expect(await loads(version)).toBe(model.stays(version));
      for (const [id, kind] of model.assets)
        await workspace.inside((transaction) => deleteAsset(transaction, kind, id));
      for (const table of ['assets', 'asset_versions', 'kept_versions', 'flow_uses'])
        expect(await asOwner(workspace.url, `select * from ${table}`)).toEqual([]);
    }),
    { numRuns: 40 },
  );
});
