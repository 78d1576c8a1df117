import {
  type AssetKind,
  type FlowField,
  type FlowGraph,
  type FlowSettings,
  type RuleField,
  type RuleGroup,
  type RuleRow,
  type RuleSettings,
  ServiceError,
} from '@decision/contracts';
import { type Bindings } from '../connection/query';

/** What drafts of rules and flows have in common: the parts that a person edits before publishing. */
interface CommonDraft {
  readonly name: string;
  readonly description: string | null;
  readonly labels: string[];
  readonly folder: unknown;
  /** Of a flow: the inputs of its origin. */
  readonly requestSchema: RuleField[];
  readonly testSuite: Record<string, unknown>[];
  readonly sampleRequest: unknown;
  readonly sampleResponse: unknown;
  readonly testRequest: unknown;
  readonly metadata: Record<string, unknown>;
  readonly context: unknown;
}

export interface RuleDraft extends CommonDraft {
  readonly responseSchema: RuleField[];
  readonly conditions: RuleRow[];
  readonly groups: Record<string, RuleGroup>;
  readonly settings: RuleSettings;
}

export interface FlowDraft extends CommonDraft {
  /** What its results answer. */
  readonly responseSchema: FlowField[];
  /** In the canonical form. */
  readonly graph: Required<FlowGraph>;
  readonly settings: FlowSettings;
}

/** Draft of an asset of a kind. */
export interface DraftOf {
  readonly rule: RuleDraft;
  readonly flow: FlowDraft;
}

/** Fields of an asset beside its draft. Times are ISO 8601 UTC with milliseconds. */
interface AssetFacts {
  readonly id: string;
  readonly slug: string;
  /** Empty: an access that is restricted to groups does not see the asset. */
  readonly userGroups: readonly string[];
  /** Number of the version in service; null where the asset is not published. */
  readonly publishedVersion: number | null;
  readonly publishedAt: string | null;
  readonly createdAt: string;
  /** When the draft last changed; strictly later with each change. */
  readonly updatedAt: string;
  readonly updatedBy: string | null;
}

/** An asset with its whole draft. */
export type AssetRecord<K extends AssetKind> = DraftOf[K] & AssetFacts;
export type RuleRecord = AssetRecord<'rule'>;

/** An asset as lists show it: without its rows or nodes. */
export type AssetSummary<K extends AssetKind> = AssetFacts &
  Pick<DraftOf[K], (typeof SUMMARY_FIELDS)[number]> & {
    /** Rows of a rule, nodes of a flow. */
    readonly rowCount: number;
  };
export type RuleSummary = AssetSummary<'rule'>;

interface DraftColumn {
  readonly column: string;
  readonly type: 'text' | 'text[]' | 'json';
}

const text = (column: string): DraftColumn => ({ column, type: 'text' });
const json = (column: string): DraftColumn => ({ column, type: 'json' });

type CommonField = keyof CommonDraft | 'responseSchema' | 'settings';

const commonColumns: Readonly<Record<CommonField, DraftColumn>> = {
  name: text('name'),
  description: text('description'),
  labels: { column: 'labels', type: 'text[]' },
  folder: json('folder'),
  requestSchema: json('request_schema'),
  responseSchema: json('response_schema'),
  settings: json('settings'),
  testSuite: json('test_suite'),
  sampleRequest: json('sample_request'),
  sampleResponse: json('sample_response'),
  testRequest: json('test_request'),
  metadata: json('metadata'),
  context: json('context'),
};

/** Column of each part of a draft, by kind. */
const draftColumns: {
  readonly [K in AssetKind]: Readonly<Record<keyof DraftOf[K], DraftColumn>>;
} = {
  rule: { ...commonColumns, conditions: json('conditions'), groups: json('groups') },
  flow: { ...commonColumns, graph: json('graph') },
};

const columnsOfKind = (kind: AssetKind): Readonly<Record<string, DraftColumn>> => draftColumns[kind];

/** One column that a statement writes. */
export interface ColumnWrite {
  readonly column: string;
  /** Expression for the value in the statement. */
  readonly expression: string;
}

interface DraftWrite {
  readonly columns: readonly ColumnWrite[];
  readonly bindings: Bindings;
}

/** How the given parts of a draft are written; absent parts are not. The number of rows or nodes goes with them. */
export const writeDraft = <K extends AssetKind>(kind: K, draft: Partial<DraftOf[K]>): DraftWrite => {
  const parts: Readonly<Record<string, unknown>> = draft;
  const given = Object.entries(columnsOfKind(kind)).filter(([field]) => parts[field] !== undefined);
  const columns = given.map(([, { column, type }]) => ({ column, expression: `cast(:${column} as ${type})` }));
  const bindings = Object.fromEntries(given.map(([field, column]) => [column.column, encode(parts[field], column)]));
  const rowCount = countRows(parts);
  if (rowCount === undefined) return { columns, bindings };
  return {
    columns: [...columns, { column: 'row_count', expression: ':row_count' }],
    bindings: { ...bindings, row_count: rowCount },
  };
};

const countRows = ({ conditions, graph }: Partial<Pick<RuleDraft, 'conditions'> & Pick<FlowDraft, 'graph'>>) =>
  conditions?.length ?? graph?.nodes.length;

/** JSON columns take text; the others take the value as it is. */
const encode = (value: unknown, { type }: DraftColumn): Bindings[string] =>
  type === 'json' ? toJson(value) : (value as string | string[] | null); // what RuleDraft has in text columns

const toJson = (value: unknown): string => {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new ServiceError('invalid_request', 'The document is nested too deeply to be stored.', {}, { cause });
  }
};

/** Reads parts of a draft from a row that holds their columns. */
const readDraft = (
  kind: AssetKind,
  row: Readonly<Record<string, unknown>>,
  fields: readonly string[],
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(fields.map((field) => [field, row[columnsOfKind(kind)[field]?.column ?? '']]));

const selectListOf = (kind: AssetKind, fields: readonly string[]): string =>
  fields.map((field) => `assets.${columnsOfKind(kind)[field]?.column}`).join(', ');

/** The columns behind {@link AssetFacts}; those of the draft lie beside them. */
export interface AssetRow extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly slug: string;
  readonly user_groups: string[];
  readonly published_version: number | null;
  readonly published_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly updated_by: string | null;
  readonly row_count: number;
}

const FACTS =
  'assets.id, assets.slug, assets.user_groups, published.number as published_version, published.published_at, ' +
  'assets.created_at, assets.updated_at, assets.updated_by';

const SUMMARY_FIELDS = [
  'name',
  'description',
  'labels',
  'folder',
  'requestSchema',
  'responseSchema',
  'metadata',
  'context',
] as const satisfies readonly (keyof RuleDraft & keyof FlowDraft)[];

/** Assets with the version that is in service. */
export const fromAssets = 'assets left join asset_versions published on published.id = assets.published_version_id';

/** Select list of a whole asset, and of one without rows or nodes. */
export const recordColumns = (kind: AssetKind): string =>
  `${FACTS}, ${selectListOf(kind, Object.keys(columnsOfKind(kind)))}`;
export const summaryColumns = `${FACTS}, assets.row_count, ${selectListOf('rule', SUMMARY_FIELDS)}`;

const toFacts = (row: AssetRow): AssetFacts => ({
  id: row.id,
  slug: row.slug,
  userGroups: row.user_groups,
  publishedVersion: row.published_version,
  publishedAt: row.published_at?.toISOString() ?? null,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
  updatedBy: row.updated_by,
});

export const toAssetRecord = <K extends AssetKind>(kind: K, row: AssetRow): AssetRecord<K> =>
  ({ ...toFacts(row), ...readDraft(kind, row, Object.keys(columnsOfKind(kind))) }) as AssetRecord<K>; // as written by writeDraft

export const toAssetSummary = <K extends AssetKind>(kind: K, row: AssetRow): AssetSummary<K> =>
  ({ ...toFacts(row), ...readDraft(kind, row, SUMMARY_FIELDS), rowCount: row.row_count }) as AssetSummary<K>; // as written by writeDraft
