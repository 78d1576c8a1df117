import { type AssetKind, draftFields, recordNames, type RuleDiff, type RuleVersion } from '@decision/contracts';
import {
  areSameVersions,
  type AssetRecord,
  findAsset,
  findNumberedVersion,
  findAssetPointer,
  listVersions as listStoredVersions,
  loadVersionDocument,
  lockAsset,
  publishVersionAgain,
  type RuleRecord,
  type Transaction,
  type VersionDocument,
  type WorkspaceAccess,
} from '@decision/persistence';
import { changeAndAnnounce } from '../announcements';
import { nothingLive } from '../releases/release-answers';
import { assetNotFound, assetNotPublished, versionNotFound } from '../assets/asset-errors';
import { pointerKey } from '../assets/save-asset';
import { followsLatest, problemsOfBoundVersion } from './check-binding';
import { diffRecords, diffTables } from './diff-tables';
import { type ImportContext, requireNone } from './import-rule';

const NUMBER = /^[1-9]\d{0,8}$/;

/** The parts of a rule or flow that its versions need. */
type VersionedAsset = Pick<RuleRecord, 'id' | 'slug'>;

/**
 * The id of the version that a selector means: `latest`, a number or an environment. Throws `rule_not_published`, `version_not_found` or
 * `environment_not_found`, or their counterparts for flows.
 */
const findVersionId = async (
  transaction: Transaction,
  kind: AssetKind,
  { id, slug }: VersionedAsset,
  selector: string,
): Promise<string> => {
  if (NUMBER.test(selector)) {
    const numbered = await findNumberedVersion(transaction, id, Number(selector));
    if (numbered === undefined) throw versionNotFound(kind, slug, selector);
    return numbered.version_id;
  }
  const { latest, pins } = (await findAssetPointer(transaction, kind, slug)) ?? { latest: null, pins: {} };
  if (latest === null) throw assetNotPublished(kind, slug);
  if (selector === 'latest') return latest.version_id;
  const pin = Object.hasOwn(pins, selector) ? pins[selector] : undefined;
  if (pin === undefined) throw nothingLive(kind, slug, selector);
  return pin.version_id;
};

/** The version that a selector means, with everything in it. Throws as {@link findVersionId}. */
export const findVersion = async <K extends AssetKind>(
  transaction: Transaction,
  kind: K,
  asset: VersionedAsset,
  selector: string,
): Promise<VersionDocument<K>> => {
  const versionId = await findVersionId(transaction, kind, asset, selector);
  const version = await loadVersionDocument(transaction, kind, versionId);
  if (version === undefined) throw versionNotFound(kind, asset.slug, selector);
  return version;
};

/** One page of versions, newest first. Throws `rule_not_found` or `flow_not_found`. */
export const listVersions = (
  { database }: Pick<ImportContext, 'database'>,
  access: WorkspaceAccess,
  {
    kind,
    slug,
    limit,
    before,
  }: { readonly kind: AssetKind; readonly slug: string; readonly limit: number; readonly before: number | undefined },
): Promise<{ data: RuleVersion[]; next_cursor: string | null }> =>
  database.inWorkspace(access, async (transaction) => {
    const asset = await requireAsset(transaction, kind, slug);
    const versions = await listStoredVersions(transaction, asset.id, { limit: limit + 1, before });
    const shown = versions.slice(0, limit);
    const data = shown.map(({ version, versionId, publishedAt, publishedBy }) => ({
      version,
      version_id: versionId,
      published_at: publishedAt,
      published_by: publishedBy,
      in_service: version === asset.publishedVersion,
    }));
    return { data, next_cursor: versions.length > limit ? String(shown.at(-1)?.version) : null };
  });

/**
 * Puts an earlier version back in service, as the next version; does nothing if the version in service already has its content. Throws
 * `rule_not_found` or `version_not_found`, and `rule_invalid` if the context that the rule is bound to could not take the outputs of that
 * version, or their counterparts for flows.
 */
export const publishAgain = <K extends AssetKind>(
  context: ImportContext,
  access: WorkspaceAccess,
  { kind, slug, version }: { readonly kind: K; readonly slug: string; readonly version: string },
): Promise<AssetRecord<K>> =>
  changeAndAnnounce(context, access, async (transaction, announceLater) => {
    const asset = await lockAsset(transaction, kind, { slug });
    if (asset === undefined) throw assetNotFound(kind, { slug });
    const source = await findNumberedVersion(transaction, asset.id, Number(version));
    if (source === undefined) throw versionNotFound(kind, slug, version);
    const current = asset.publishedVersionId;
    if (current === null || !(await areSameVersions(transaction, current, source.version_id))) {
      const { context: binding } = await requireAsset(transaction, kind, slug);
      if (followsLatest(binding))
        requireNone(await problemsOfBoundVersion(transaction, binding, source.version_id), kind);
      const again = { assetId: asset.id, sourceId: source.version_id, versionId: context.newId() };
      await publishVersionAgain(transaction, kind, again);
      announceLater({ kind, keys: [pointerKey(access.workspaceId, kind, slug)] });
    }
    return requireAsset(transaction, kind, slug);
  });

/** Differences between two states of a rule. Throws `rule_not_found`, `rule_not_published`, `version_not_found` or `environment_not_found`. */
export const diffRule = (
  { database }: Pick<ImportContext, 'database'>,
  access: WorkspaceAccess,
  slug: string,
  { from = 'latest', to = 'draft' }: { readonly from?: string | undefined; readonly to?: string | undefined },
): Promise<RuleDiff> =>
  database.inWorkspace(access, async (transaction) => {
    const rule = await requireAsset(transaction, 'rule', slug);
    const before = await readState(transaction, rule, from);
    const after = await readState(transaction, rule, to);
    const { fields, rows, truncated } = diffTables(before.table, after.table);
    const other = diffRecords(before.other, after.other).map(({ path, ...change }) => ({ field: path, ...change }));
    const differences =
      fields.length + other.length + Object.values(rows.counts).reduce((sum, count) => sum + count, 0);
    return { rule: slug, from: before.name, to: after.name, fields, rows, other, equal: differences === 0, truncated };
  });

/** A state of a rule: the table that decides its answers, and everything else by name. */
interface RuleState {
  readonly name: string;
  readonly table: Pick<RuleRecord, 'requestSchema' | 'responseSchema' | 'conditions'>;
  readonly other: Readonly<Record<string, unknown>>;
}

const readState = async (transaction: Transaction, rule: RuleRecord, selector: string): Promise<RuleState> => {
  if (selector === 'draft') return { name: 'draft', ...splitState(rule) };
  const { version, definition: table, details } = await findVersion(transaction, 'rule', rule, selector);
  return { name: String(version), ...splitState({ ...details, ...table }) };
};

/** Parts that are compared in detail: fields, rows, nodes and connections. */
const COMPARED_BY_PIECE: ReadonlySet<string> = new Set(['requestSchema', 'responseSchema', 'conditions', 'graph']);

const otherNames = (kind: AssetKind): readonly string[] =>
  ['slug', ...recordNames(draftFields[kind])].filter((name) => !COMPARED_BY_PIECE.has(name));
const OTHER: Readonly<Record<AssetKind, readonly string[]>> = { rule: otherNames('rule'), flow: otherNames('flow') };

/** The parts of a state that are compared as a whole, by name. They change only by a caller's action. */
export const otherParts = (kind: AssetKind, state: object): Readonly<Record<string, unknown>> => {
  const parts: Readonly<Record<string, unknown>> = { ...state };
  return Object.fromEntries(OTHER[kind].map((name) => [name, parts[name]]));
};

const splitState = (state: RuleState['table']) => ({ table: state, other: otherParts('rule', state) });

/** Throws `rule_not_found` or `flow_not_found`. */
export const requireAsset = async <K extends AssetKind>(
  transaction: Transaction,
  kind: K,
  slug: string,
): Promise<AssetRecord<K>> => {
  const asset = await findAsset(transaction, kind, { slug });
  if (asset === undefined) throw assetNotFound(kind, { slug });
  return asset;
};
