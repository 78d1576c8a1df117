import { randomBytes } from 'node:crypto';
import { checkDatabase, createDatabase, dropDatabase, migrate } from '../../src';
import { createMigratedDatabase } from '../../src/testing';
import { ensureTemplate } from '../../src/testing/migrated-database';
import { asOwner } from '../as-owner';
import { adminUrl, freshDatabase, migratedDatabase } from './fresh-database';

/** Every column, index, policy, trigger and privilege of the tables, and what was applied. */
const SCHEMA = [
  `select table_name, column_name, data_type, column_default, is_nullable from information_schema.columns
    where table_schema = 'public' order by 1, 2`,
  `select indexdef from pg_indexes where schemaname = 'public' order by 1`,
  `select tablename, policyname, roles, cmd, qual, with_check from pg_policies order by 1, 2`,
  `select relname, relrowsecurity, relforcerowsecurity, relacl::text from pg_class
    where relnamespace = 'public'::regnamespace order by 1`,
  `select tgname, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal order by 1`,
  `select proname, pg_get_functiondef(oid), proacl::text from pg_proc where pronamespace = 'public'::regnamespace order by 1`,
  `select name from schema_migrations order by 1`,
];
const schemaOf = (url: string) => Promise.all(SCHEMA.map((sql) => asOwner(url, sql)));

it('a copy of the template is what migrating makes', async () => {
  const [copy, own] = await Promise.all([migratedDatabase('copy'), freshDatabase('own')]);
  await migrate({ url: own.url });
  expect(await schemaOf(copy.url)).toEqual(await schemaOf(own.url));
  expect(await checkDatabase(copy.url)).toEqual([]);
  await Promise.all([copy.drop(), own.drop()]);
});

describe('a template', () => {
  let template: string;
  beforeEach(() => {
    template = `template_test_${randomBytes(6).toString('hex')}`;
  });
  afterEach(() => dropDatabase(adminUrl(), template));

  const named = () =>
    asOwner(adminUrl(), 'select datname as name, datallowconn from pg_database where starts_with(datname, $1)', [
      template,
    ]);

  it('is made once by all who need it at the same time', async () => {
    await Promise.all(Array.from({ length: 6 }, () => ensureTemplate(adminUrl(), template)));
    expect(await named()).toEqual([{ name: template, datallowconn: false }]);
  });

  it('is made anew if its maker died on the way', async () => {
    await createDatabase(adminUrl(), `${template}_unfinished`);
    await ensureTemplate(adminUrl(), template);
    expect(await named()).toEqual([{ name: template, datallowconn: false }]);
    const copy = await createDatabase(adminUrl(), `${template}_copy`, template);
    expect(await checkDatabase(copy)).toEqual([]);
    await dropDatabase(adminUrl(), `${template}_copy`);
  });
});

it('refuses names that are not plain', async () => {
  await expect(createMigratedDatabase(adminUrl(), 'Upper')).rejects.toMatchObject({ code: 'internal_error' });
});
