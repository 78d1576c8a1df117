import {
  type RuleField,
  type RuleGroup,
  type RuleRow as TableRow,
  type RuleSettings,
  ServiceError,
} from '@decision/contracts';
import { type Bindings } from '../connection/query';

/** The parts of a rule that a person edits before publishing. */
export interface RuleDraft {
  readonly name: string;
  readonly description: string | null;
  readonly labels: string[];
  readonly folder: unknown;
  readonly requestSchema: RuleField[];
  readonly responseSchema: RuleField[];
  readonly conditions: TableRow[];
  readonly groups: Record<string, RuleGroup>;
  readonly settings: RuleSettings;
  readonly testSuite: Record<string, unknown>[];
  readonly sampleRequest: unknown;
  readonly sampleResponse: unknown;
  readonly testRequest: unknown;
  readonly metadata: Record<string, unknown>;
  readonly context: unknown;
}

/** Fields of a rule beside its draft. Times are ISO 8601 UTC with milliseconds. */
interface RuleFacts {
  readonly id: string;
  readonly slug: string;
  /** Empty: an access that is restricted to groups does not see the rule. */
  readonly userGroups: readonly string[];
  /** Number of the version in service; null where the rule is not published. */
  readonly publishedVersion: number | null;
  readonly publishedAt: string | null;
  readonly createdAt: string;
  /** When the draft last changed; strictly later with each change. */
  readonly updatedAt: string;
  readonly updatedBy: string | null;
}

/** A rule with its whole draft. */
export interface RuleRecord extends RuleDraft, RuleFacts {}

/** A rule as lists show it: without its rows. */
export interface RuleSummary
  extends
    RuleFacts,
    Pick<
      RuleDraft,
      'name' | 'description' | 'labels' | 'folder' | 'requestSchema' | 'responseSchema' | 'metadata' | 'context'
    > {
  readonly rowCount: number;
}

interface DraftColumn {
  readonly column: string;
  readonly type: 'text' | 'text[]' | 'json';
}

const text = (column: string): DraftColumn => ({ column, type: 'text' });
const json = (column: string): DraftColumn => ({ column, type: 'json' });

/** Column of each part of a draft. */
const draftColumns: Readonly<Record<keyof RuleDraft, DraftColumn>> = {
  name: text('name'),
  description: text('description'),
  labels: { column: 'labels', type: 'text[]' },
  folder: json('folder'),
  requestSchema: json('request_schema'),
  responseSchema: json('response_schema'),
  conditions: json('conditions'),
  groups: json('groups'),
  settings: json('settings'),
  testSuite: json('test_suite'),
  sampleRequest: json('sample_request'),
  sampleResponse: json('sample_response'),
  testRequest: json('test_request'),
  metadata: json('metadata'),
  context: json('context'),
};

/** The parts of a draft, in the order of the table above. */
const draftFields = Object.keys(draftColumns) as (keyof RuleDraft)[]; // the keys of a Record are its type's keys

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

/** How the given parts of a draft are written; absent parts are not. The number of rows goes with the rows. */
export const writeDraft = (draft: Partial<RuleDraft>): DraftWrite => {
  const given = draftFields.filter((field) => draft[field] !== undefined);
  const columns = given.map((field) => {
    const { column, type } = draftColumns[field];
    return { column, expression: `cast(:${column} as ${type})` };
  });
  const bindings: Record<string, Bindings[string]> = Object.fromEntries(
    given.map((field) => [draftColumns[field].column, encode(draft[field], draftColumns[field])]),
  );
  if (draft.conditions === undefined) return { columns, bindings };
  return {
    columns: [...columns, { column: 'row_count', expression: ':row_count' }],
    bindings: { ...bindings, row_count: draft.conditions.length },
  };
};

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
const readDraft = <F extends keyof RuleDraft>(
  row: Readonly<Record<string, unknown>>,
  fields: readonly F[],
): Pick<RuleDraft, F> =>
  Object.fromEntries(fields.map((field) => [field, row[draftColumns[field].column]])) as Pick<RuleDraft, F>; // as written by writeDraft

/** The columns of parts of a draft, for a select list. */
export const columnsOf = (fields: readonly (keyof RuleDraft)[]): string =>
  fields.map((field) => `rules.${draftColumns[field].column}`).join(', ');

/** The columns behind {@link RuleFacts}; those of the draft lie beside them. */
export interface RuleRow extends Readonly<Record<string, unknown>> {
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
  'rules.id, rules.slug, rules.user_groups, published.number as published_version, published.published_at, ' +
  'rules.created_at, rules.updated_at, rules.updated_by';

const SUMMARY_FIELDS = [
  'name',
  'description',
  'labels',
  'folder',
  'requestSchema',
  'responseSchema',
  'metadata',
  'context',
] as const satisfies readonly (keyof RuleDraft)[];

/** Rules with the version that is in service. */
export const fromRules = 'rules left join rule_versions published on published.id = rules.published_version_id';

/** Select list of a whole rule, and of one without rows. */
export const recordColumns = `${FACTS}, ${columnsOf(draftFields)}`;
export const summaryColumns = `${FACTS}, rules.row_count, ${columnsOf(SUMMARY_FIELDS)}`;

const toFacts = (row: RuleRow): RuleFacts => ({
  id: row.id,
  slug: row.slug,
  userGroups: row.user_groups,
  publishedVersion: row.published_version,
  publishedAt: row.published_at?.toISOString() ?? null,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
  updatedBy: row.updated_by,
});

export const toRuleRecord = (row: RuleRow): RuleRecord => ({ ...toFacts(row), ...readDraft(row, draftFields) });

export const toRuleSummary = (row: RuleRow): RuleSummary => ({
  ...toFacts(row),
  ...readDraft(row, SUMMARY_FIELDS),
  rowCount: row.row_count,
});
