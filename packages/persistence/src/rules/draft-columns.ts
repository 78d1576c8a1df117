import { ServiceError } from '@decision/contracts';
import { type Bindings } from '../connection/query';
import { type RuleDraft } from './rule-record';

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
export const draftFields = Object.keys(draftColumns) as (keyof RuleDraft)[]; // the keys of a Record are its type's keys

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
export const readDraft = <F extends keyof RuleDraft>(
  row: Readonly<Record<string, unknown>>,
  fields: readonly F[],
): Pick<RuleDraft, F> =>
  Object.fromEntries(fields.map((field) => [field, row[draftColumns[field].column]])) as Pick<RuleDraft, F>; // as written by writeDraft

/** The columns of parts of a draft, for a select list. */
export const columnsOf = (fields: readonly (keyof RuleDraft)[]): string =>
  fields.map((field) => `rules.${draftColumns[field].column}`).join(', ');
