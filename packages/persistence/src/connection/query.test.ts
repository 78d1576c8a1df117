import { bindNames, summarise } from './query';

it('numbers each name once, in the order in which names first stand', () => {
  expect(bindNames('select :b, :a, :b, cast(:a_1 as text)', { a: 1, a_1: ['x'], b: null })).toMatchObject({
    text: 'select $1, $2, $1, cast($3 as text)',
    values: [null, 1, ['x']],
  });
});

it('leaves casts, literals and times alone', () => {
  const sql = `select x::text, 'HH24:MI:SS', array[1:2], :t where a = ':none'`;
  expect(bindNames(sql, { t: true })).toMatchObject({ text: sql.replace(':t ', '$1 '), values: [true] });
});

it('does not read names through a prototype', () => {
  expect(bindNames('select :constructor', {})).toMatchObject({ text: 'select :constructor', values: [] });
});

it('numbers anew if a statement comes with other names', () => {
  expect(bindNames('select :a, :b', { a: 1, b: 2 }).values).toEqual([1, 2]);
  expect(bindNames('select :a, :b', { b: 3 })).toMatchObject({ text: 'select :a, $1', values: [3] });
  expect(bindNames('select :a, :b', { a: 4, b: 5 })).toMatchObject({ text: 'select $1, $2', values: [4, 5] });
});

it('forgets statements if there are very many', () => {
  for (let index = 0; index < 3_000; index += 1) expect(bindNames(`select :a, ${index}`, { a: index }).values).toEqual([index]); // prettier-ignore
});

it('names a statement once it has been used some times, and not if a long list comes', () => {
  const sql = 'select :often, cast(:list as text[])';
  const use = (length: number) => bindNames(sql, { often: 1, list: new Array<string>(length).fill('x') }).name;
  for (let index = 0; index < 10; index += 1) expect(use(1)).toBeUndefined();
  const name = use(16);
  expect(name).toMatch(/^statement_\d+$/);
  expect(use(17)).toBeUndefined();
  expect(use(0)).toBe(name);
  for (let index = 0; index < 11; index += 1) bindNames('select :other', { other: index });
  expect(bindNames('select :other', { other: 0 }).name).not.toBe(name);
});

it.each([
  ['select 1', 'select'],
  ['  begin', 'begin'],
  ['select i.id from instances i join contexts c on true where i.a = :a', 'select instances'],
  ['select find_api_key(:selector)', 'select find_api_key'],
  ['insert into rules (id) values (:id) on conflict (id) do update set name = :name', 'insert rules'],
  [
    'with due as (select id from instances for update skip locked) delete  from instances where true',
    'delete instances',
  ],
  ['update contexts set name = :name', 'update contexts'],
  ['savepoint savepoint_1', 'savepoint'],
  ['', 'statement'],
])('summarises %j as %j', (sql, summary) => {
  expect(summarise(sql)).toBe(summary);
});
