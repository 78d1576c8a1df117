import { hash } from 'node:crypto';
import { type BoundAsset } from '@decision/contexts';
import { type RuleField } from '@decision/contracts';
import {
  type AssetInterface,
  type BoundAssetRecord,
  findFollowedVersions,
  type FollowedRule,
  loadAssetInterface,
  loadFlowParts,
  type Transaction,
} from '@decision/persistence';
import { LRUCache } from 'lru-cache';

/**
 * Converts records of rules and flows to the form that contexts use, in the versions effective now: only published ones, in the order of
 * the records.
 */
type OpenBoundAssets = (transaction: Transaction, records: readonly BoundAssetRecord[]) => Promise<BoundAsset[]>;

/** The data of a flow version, without the rules that it follows. */
interface FlowShape {
  readonly reachesOut: boolean;
  /** Rules that the flow, and the flows that it runs, follow by slug; each once. */
  readonly following: readonly FollowedRule[];
}

const MAX_VERSIONS = 10_000;

/** The immutable data of versions is cached. */
export const createBoundAssets = (): OpenBoundAssets => {
  const interfaces = new LRUCache<string, AssetInterface>({ max: MAX_VERSIONS });
  const shapes = new LRUCache<string, FlowShape>({ max: MAX_VERSIONS });

  const interfaceOf = async (transaction: Transaction, versionId: string): Promise<AssetInterface | undefined> => {
    const found = interfaces.get(versionId) ?? (await loadAssetInterface(transaction, versionId));
    if (found !== undefined) interfaces.set(versionId, found);
    return found;
  };

  const shapeOf = async (transaction: Transaction, versionId: string): Promise<FlowShape | undefined> => {
    const found = shapes.get(versionId) ?? (await loadShape(transaction, versionId));
    if (found !== undefined) shapes.set(versionId, found);
    return found;
  };

  /** Rules are complete after this step; the rules that flows follow are resolved for all flows at once. */
  const openVersions = async (transaction: Transaction, records: readonly BoundAssetRecord[]) => {
    const opened: { readonly asset: BoundAsset; readonly shape: FlowShape | undefined }[] = [];
    for (const { kind, id, slug, versionId } of records) {
      if (versionId === null) continue;
      const fields = await interfaceOf(transaction, versionId);
      const shape = kind === 'flow' ? await shapeOf(transaction, versionId) : undefined;
      if (fields === undefined || (kind === 'flow' && shape === undefined)) continue;
      opened.push({ asset: { ...toAsset(kind, slug, versionId, fields), id }, shape });
    }
    return opened;
  };

  return async (transaction, records) => {
    const opened = await openVersions(transaction, records);
    const following = new Map(
      opened.flatMap(({ shape }) => (shape?.following ?? []).map((rule) => [nameOf(rule), rule] as const)),
    );
    const versions = await findFollowedVersions(transaction, [...following.values()]);
    const now = new Map([...following.keys()].map((name, index) => [name, versions[index] ?? undefined]));
    return opened.map(({ asset, shape }) => (shape === undefined ? asset : asFlow(asset, shape, now)));
  };
};

/** For a flow and the flows that it runs, whose versions are fixed. Undefined if one of them no longer exists. */
const loadShape = async (transaction: Transaction, versionId: string): Promise<FlowShape | undefined> => {
  const following = new Map<string, FollowedRule>();
  const seen = new Set<string>();
  const waiting = [versionId];
  let reachesOut = false;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    const parts = await loadFlowParts(transaction, next);
    if (parts === undefined) return undefined;
    reachesOut ||= parts.reachesOut;
    for (const { kind, slug, selector, version_id: used } of parts.uses)
      if (kind === 'flow') waiting.push(used);
      else if (!VERSION_NUMBER.test(selector)) following.set(nameOf({ slug, selector }), { slug, selector });
  }
  return { reachesOut, following: [...following.values()] };
};

const VERSION_NUMBER = /^[1-9]\d{0,8}$/;

const nameOf = ({ slug, selector }: FollowedRule): string => `${slug}/${selector}`;

/** A flow with the versions that it runs now (C56). */
const asFlow = (
  asset: BoundAsset,
  { reachesOut, following }: FlowShape,
  now: ReadonlyMap<string, string | undefined>,
): BoundAsset => {
  const versionId = asset.effectiveVersion;
  const followed = following.flatMap((rule): [string, string][] => {
    const version = now.get(nameOf(rule));
    return version === undefined ? [] : [[nameOf(rule), version]];
  });
  followed.sort(([a], [b]) => (a < b ? -1 : 1));
  const effectiveVersion =
    followed.length === 0
      ? versionId
      : `${versionId}+${hash('sha256', JSON.stringify(followed), 'base64url').slice(0, 22)}`;
  return { ...asset, effectiveVersion, flow: { versionId, follows: Object.fromEntries(followed), reachesOut } };
};

/** A published rule or flow in the form that contexts use; for a flow without the rules that it follows. */
export const toAsset = (
  kind: BoundAsset['type'],
  slug: string,
  versionId: string,
  { requestSchema, responseSchema }: AssetInterface,
): BoundAsset => ({
  type: kind,
  slug,
  effectiveVersion: versionId,
  inputs: requestSchema.map((field) => ({ key: field.key, hasDefault: hasDefault(field) })),
  outputs: responseSchema.map(({ key }) => key),
});

const hasDefault = ({ defaultValue, defaultComputedValue }: RuleField): boolean =>
  (defaultValue ?? null) !== null || (defaultComputedValue ?? '') !== '';
