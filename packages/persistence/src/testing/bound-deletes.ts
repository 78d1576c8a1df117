import { asAdministrator } from '../connection/administrator';

/** Makes the database refuse to delete more than the given number of rows of one of the tables in one transaction. */
export const boundDeletes = async (url: string, tables: readonly string[], most: number): Promise<void> => {
  const bound = /* sql */ `create function bound_deletes() returns trigger language plpgsql as $$
    declare
      claim text := 'test.deleted_' || tg_table_name;
      deleted integer := coalesce(nullif(current_setting(claim, true), '')::integer, 0) + 1;
    begin
      if deleted > ${most} then raise exception 'one transaction deletes more than ${most} rows of %', tg_table_name; end if;
      perform set_config(claim, deleted::text, true);
      return old;
    end $$`;
  const triggers = tables.map(
    (table) => `create trigger bound_deletes before delete on ${table} for each row execute function bound_deletes()`,
  );
  await asAdministrator(url, (client) => client.query([bound, ...triggers].join(';\n')));
};
