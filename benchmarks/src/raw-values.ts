import { type Database, openDatabase } from '@decision/persistence';

/** Only the statements that are needed to write values: same tables, role, policies, triggers and indexes. */
export interface RawValues {
  /** Inserts numbers or texts in one statement, committed. */
  readonly insert: (names: readonly string[], contents: readonly unknown[]) => Promise<void>;
  /** Counts how many of these are stored as given. */
  readonly compare: (names: readonly string[], contents: readonly unknown[]) => Promise<number>;
  close(): Promise<void>;
}

const GIVEN = 'unnest(cast(:names as text[]), cast(:contents as text[])) as given (name, content)';

const INSERT = `
  insert into workspace_values (name, type, content, metadata, user_groups)
  select name, case when content like '"%' then 'string' else 'number' end, cast(content as json), '{}', '{}' from ${GIVEN}`;

const COMPARE = `
  select count(*) as same from workspace_values join ${GIVEN} on given.name = workspace_values.name
  where cast(workspace_values.content as text) = given.content`;

export const openRawValues = (url: string, workspaceId: string): RawValues => {
  const database: Database = openDatabase({ url, applicationName: 'benchmark' });
  const run = <T>(sql: string, names: readonly string[], contents: readonly unknown[]): Promise<T> =>
    database.inWorkspace({ workspaceId, userGroups: undefined }, async (transaction) => {
      const bindings = { names: [...names], contents: contents.map((content) => JSON.stringify(content)) };
      return await transaction.raw(sql, bindings); // the statement's answer
    });
  return {
    insert: async (names, contents) => void (await run(INSERT, names, contents)),
    compare: async (names, contents) => {
      const { rows } = await run<{ rows: { same: string }[] }>(COMPARE, names, contents);
      return Number(rows[0]?.same);
    },
    close: () => database.close(),
  };
};
