import { runPackage } from './package-run';

it('counts what passed, failed and was left out, and says what failed and why', () => {
  const { status, counts } = runPackage({
    'good.test.ts': `test('passes', () => {}); test.todo('later');`,
    'bad.test.ts': `describe('a sum', () => { it('adds up', () => expect(1 + 1).toBe(3)); });`,
    'broken.test.ts': `throw new RangeError('It cannot even start.');`,
  });
  expect(status).toBe(1);
  expect(counts).toMatchObject({ passed: 1, failed: 2, skipped: 1 });
  const failures = counts['failures'] as { file: string; title: string; message: string[] }[];
  failures.sort((a, b) => a.file.localeCompare(b.file));
  expect(failures).toMatchObject([
    { file: 'bad.test.ts', title: 'a sum adds up' },
    { file: 'broken.test.ts', title: 'the file as a whole' },
  ]);
  expect(failures[0]?.message.slice(0, 3)).toEqual([
    'Error: expect(received).toBe(expected) // Object.is equality',
    'Expected: 3',
    'Received: 2',
  ]);
  expect(failures[1]?.message.join('\n')).toContain('It cannot even start.');
});

it('keeps a bounded account of a suite that breaks as a whole', () => {
  const { counts } = runPackage({
    'bad.test.ts': `test.each([...new Array(70).keys()])('test %i', () => { throw new Error('x'.repeat(9_000) + '\\ny'.repeat(99)); });`,
  });
  const failures = counts['failures'] as { message: string[] }[];
  expect(counts).toMatchObject({ passed: 0, failed: 70 });
  expect(failures).toHaveLength(50);
  expect(JSON.stringify(failures).length).toBeLessThan(50 * 1_000);
  expect(failures[49]?.message[0]).toMatch(/^Error: x+$/);
});

it('says nothing failed when nothing did', () => {
  const { status, counts } = runPackage({ 'good.test.ts': `test('passes', () => {});` });
  expect({ status, counts }).toEqual({ status: 0, counts: { passed: 1, failed: 0, skipped: 0, failures: [] } });
});
