import { type AssetKind, type FlowDefinition, type FlowField, type FlowUse, type RuleField } from '@decision/contracts';
import { asWorkspace } from '../connection/access';
import { query, type Transaction } from '../connection/query';
import { selectedVersion } from './selected-version';

/** The slug of an asset and a selector of its version: `latest`, a number as text or the slug of an environment. */
interface SelectedAsset {
  readonly kind: AssetKind;
  readonly slug: string;
  readonly selector: string;
}

/** The version that a slug and a selector currently refer to. */
export interface ResolvedAsset extends SelectedAsset {
  readonly assetId: string;
  readonly versionId: string;
  readonly version: number;
  readonly requestSchema: readonly RuleField[];
  readonly responseSchema: readonly (RuleField | FlowField)[];
}

const RESOLVE = /* sql */ `
  select wanted.kind, wanted.slug, wanted.selector, assets.id as "assetId", versions.id as "versionId", versions.number as version,
    versions.definition -> 'requestSchema' as "requestSchema", versions.definition -> 'responseSchema' as "responseSchema"
  from unnest(cast(:kinds as text[]), cast(:slugs as text[]), cast(:selectors as text[])) as wanted (kind, slug, selector)
    join assets on assets.kind = wanted.kind and assets.slug = wanted.slug and assets.published_version_id is not null
    join asset_versions versions on versions.id = ${selectedVersion('wanted.selector')}`;

/** The published versions for these names; assets that are not visible, not published or do not exist have no entry. */
export const resolveAssets = async (
  transaction: Transaction,
  wanted: readonly SelectedAsset[],
): Promise<readonly ResolvedAsset[]> =>
  wanted.length === 0
    ? []
    : query<ResolvedAsset>(transaction, RESOLVE, {
        kinds: wanted.map(({ kind }) => kind),
        slugs: wanted.map(({ slug }) => slug),
        selectors: wanted.map(({ selector }) => selector),
      });

/** The part of a flow version that the flows running it need. */
export interface StoredSubflow extends Pick<
  FlowDefinition,
  'requestSchema' | 'responseSchema' | 'uses' | 'reaches_out'
> {
  readonly version_id: string;
  readonly flow_id: string;
  readonly version: number;
}

const PARTS = `
  number as version, definition -> 'requestSchema' as "requestSchema", definition -> 'responseSchema' as "responseSchema",
  definition -> 'uses' as uses, reaches_out`;
const SUBFLOWS = /* sql */ `
  select id as version_id, rule_id as flow_id, ${PARTS} from asset_versions where id = any (cast(:ids as uuid[])) and kind = 'flow'
  union all
  select id, asset_id, ${PARTS} from kept_versions where id = any (cast(:ids as uuid[])) and kind = 'flow'`;

/**
 * These versions of flows with all flows within them, by version id, each once, read level by level with the rights of the workspace: the
 * right to run a flow includes the flows within it. Stops reading once there are more than `most`.
 */
export const loadSubflows = (
  transaction: Transaction,
  versionIds: readonly string[],
  most: number,
): Promise<ReadonlyMap<string, StoredSubflow>> =>
  asWorkspace(transaction, async () => {
    const found = new Map<string, StoredSubflow>();
    let wanted: readonly string[] = versionIds;
    while (wanted.length > 0 && found.size <= most) {
      const flows = await query<StoredSubflow>(transaction, SUBFLOWS, { ids: wanted });
      for (const flow of flows) found.set(flow.version_id, flow);
      const next = flows.flatMap(({ uses }) => uses.filter(isFlow).map(({ version_id }) => version_id));
      wanted = [...new Set(next)].filter((id) => !found.has(id)).slice(0, most + 1);
    }
    return found;
  });

const isFlow = ({ kind }: FlowUse): boolean => kind === 'flow';

const VISIBLE = /* sql */ `select id from assets where id = any (cast(:ids as uuid[]))`;

/** The visible ones among these assets. */
export const findVisibleAssets = async (
  transaction: Transaction,
  ids: readonly string[],
): Promise<ReadonlySet<string>> => {
  if (ids.length === 0) return new Set();
  return new Set((await query<{ id: string }>(transaction, VISIBLE, { ids })).map(({ id }) => id));
};
