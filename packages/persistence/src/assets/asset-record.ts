import {
  type AssetFields,
  assetFacts,
  type AssetKind,
  type DraftFields,
  draftFields,
  type DraftOf,
  type FlowDraft,
  type ListedDraft,
  type RecordOf,
  recordName,
  type RuleDraft,
} from '@decision/contracts';
import { type Bindings } from '../connection/query';
import { type DescribedRow, describeTable, storedType, toStored } from '../resources/described-table';

type AssetFacts = RecordOf<typeof assetFacts>;

/** An asset with its whole draft. */
export type AssetRecord<K extends AssetKind> = DraftOf[K] & AssetFacts;
export type RuleRecord = AssetRecord<'rule'>;

interface ListedDraftOf {
  readonly rule: ListedDraft<typeof draftFields.rule>;
  readonly flow: ListedDraft<typeof draftFields.flow>;
}

/** An asset as lists show it: without its rows or nodes. */
export type AssetSummary<K extends AssetKind> = AssetFacts &
  ListedDraftOf[K] & {
    /** Rows of a rule, nodes of a flow. */
    readonly rowCount: number;
  };
export type RuleSummary = AssetSummary<'rule'>;

const fieldsOf = (kind: AssetKind): DraftFields => draftFields[kind];

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

/** Columns for the given parts of a draft; absent parts are not written. The number of rows or nodes is included. */
export const writeDraft = <K extends AssetKind>(kind: K, draft: Partial<DraftOf[K]>): DraftWrite => {
  const parts: Readonly<Record<string, unknown>> = draft;
  const given = Object.entries(fieldsOf(kind)).filter(([column]) => parts[recordName(column)] !== undefined);
  const columns = given.map(([column, field]) => ({ column, expression: `cast(:${column} as ${storedType(field)})` }));
  const bindings = Object.fromEntries(given.map(([column, field]) => [column, toStored(field, parts[recordName(column)])])); // prettier-ignore
  const rowCount = countRows(parts);
  if (rowCount === undefined) return { columns, bindings };
  return {
    columns: [...columns, { column: 'row_count', expression: ':row_count' }],
    bindings: { ...bindings, row_count: rowCount },
  };
};

const countRows = ({ conditions, graph }: Partial<Pick<RuleDraft, 'conditions'> & Pick<FlowDraft, 'graph'>>) =>
  conditions?.length ?? graph?.nodes.length;

/** Assets with the version in service. */
export const fromAssets = 'assets left join asset_versions published on published.id = assets.published_version_id';

const describeAssets = (fields: AssetFields) =>
  describeTable('assets', fields, {
    published_version: 'published.number',
    published_at: 'published.published_at',
  });

const listedFieldsOf = (kind: AssetKind): AssetFields =>
  Object.fromEntries(Object.entries(fieldsOf(kind)).filter(([, { listed }]) => listed !== undefined));

const describeKind = (kind: AssetKind) => ({
  whole: describeAssets({ ...assetFacts, ...fieldsOf(kind) }),
  summary: describeAssets({ ...assetFacts, ...listedFieldsOf(kind) }),
});
const described = { rule: describeKind('rule'), flow: describeKind('flow') };

/** Select list of a complete asset, and of one without rows or nodes. */
export const recordColumns = (kind: AssetKind): string => described[kind].whole.columns;
export const summaryColumns = (kind: AssetKind): string => `${described[kind].summary.columns}, assets.row_count`;

export const toAssetRecord = <K extends AssetKind>(kind: K, row: DescribedRow): AssetRecord<K> =>
  described[kind].whole.toRecord(row) as unknown as AssetRecord<K>; // as written by writeDraft

export const toAssetSummary = <K extends AssetKind>(kind: K, row: DescribedRow): AssetSummary<K> =>
  ({ ...described[kind].summary.toRecord(row), rowCount: row['row_count'] }) as unknown as AssetSummary<K>; // as written by writeDraft
