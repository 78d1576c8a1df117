import { allMigrations } from './all-migrations';

describe('allMigrations', () => {
  it('are numbered from 0001 without a gap', () => {
    const numbers = allMigrations.map(({ name }) => name.slice(0, 4));
    expect(numbers).toEqual(allMigrations.map((_, index) => String(index + 1).padStart(4, '0')));
  });

  it.each(allMigrations)('$name has a name of the usual form and escapes question marks', ({ name, sql }) => {
    expect(name).toMatch(/^\d{4}-[a-z]+(-[a-z]+)*$/);
    expect(sql).not.toMatch(/(?<!\\)\?/);
  });
});
