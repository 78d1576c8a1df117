import { type Database, openDatabase } from '@decision/persistence';

/** Only the statements that are needed to store and list rules: same tables, role, policies, triggers and indexes. */
export interface RawRules {
  /** Inserts one rule with this table, in its own transaction. */
  readonly insert: (slug: string, table: RawTable) => Promise<void>;
  /** Adds this many rules in one statement. */
  readonly fill: (count: number, table: RawTable) => Promise<void>;
  /** Reads the newest hundred rules without their rows. */
  readonly firstPage: () => Promise<void>;
  close(): Promise<void>;
}

/** Fields and rows of a rule. */
interface RawTable {
  readonly requestSchema: readonly object[];
  readonly responseSchema: readonly object[];
  readonly conditions: readonly object[];
}

const COLUMNS = `
  id, slug, name, labels, user_groups, folder, request_schema, response_schema, conditions, row_count, groups, settings, test_suite,
  sample_request, sample_response, test_request, metadata, context`;

const contents = (labels: string): string => `
  ${labels}, '{}', 'null', cast(:request_schema as json), cast(:response_schema as json), cast(:conditions as json), :row_count, '{}', '{}',
  '[]', 'null', 'null', 'null', '{}', 'null'`;

const INSERT = `
  with claimed as (insert into asset_ids (id) values (gen_random_uuid()) returning id)
  insert into assets (${COLUMNS}) select id, :slug, :slug, ${contents(`'{}'`)} from claimed`;

/** One in a hundred has the label that the benchmark filters by. */
const FILL = `
  with claimed as (insert into asset_ids (id) select gen_random_uuid() from generate_series(1, :count) returning id),
    numbered as (select id, row_number() over () as number from claimed)
  insert into assets (${COLUMNS})
  select id, 'filled-' || number, 'Filled ' || number,
    ${contents(`case when number % 100 = 0 then array['rare'] else array['common'] end`)}
  from numbered`;

const FIRST_PAGE = `
  select id, slug, user_groups, created_at, updated_at, updated_by, name, description, labels, folder, request_schema, response_schema,
    metadata, context, row_count, published_version_id
  from assets where kind = 'rule' order by created_at desc, id desc limit 101`;

export const openRawRules = (url: string, workspaceId: string): RawRules => {
  const database: Database = openDatabase({ url, applicationName: 'benchmark' });
  const run = (sql: string, bindings: Record<string, string | number>): Promise<void> =>
    database.inWorkspace({ workspaceId, userGroups: undefined }, async (transaction) => {
      await transaction.raw(sql, bindings);
    });
  const write = ({ requestSchema, responseSchema, conditions }: RawTable) => ({
    request_schema: JSON.stringify(requestSchema),
    response_schema: JSON.stringify(responseSchema),
    conditions: JSON.stringify(conditions),
    row_count: conditions.length,
  });
  return {
    insert: (slug, table) => run(INSERT, { slug, ...write(table) }),
    fill: (count, table) => run(FILL, { count, ...write(table) }),
    firstPage: () => run(FIRST_PAGE, {}),
    close: () => database.close(),
  };
};
