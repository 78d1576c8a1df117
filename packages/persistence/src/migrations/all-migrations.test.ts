import { allMigrations } from './all-migrations';

describe('allMigrations', () => {
  it('are numbered from 0001, each with a number of its own and in order', () => {
    const numbers = allMigrations.map(({ name }) => name.slice(0, 4));
    expect(numbers[0]).toBe('0001');
    expect(numbers).toEqual([...new Set(numbers)].sort());
  });

  it.each(allMigrations)('$name has a name of the usual form and escapes question marks', ({ name, sql }) => {
    expect(name).toMatch(/^\d{4}-[a-z]+(-[a-z]+)*$/);
    expect(sql).not.toMatch(/(?<!\\)\?/);
  });
});
