import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The closing lines of a run. The module is plain JavaScript, since it runs before anything is installed. */
const describeRun = (checks: unknown[], failures: unknown[]): string[] => {
  const module = JSON.stringify(pathToFileURL(join(__dirname, '../bootstrap/failures.mjs')).href);
  const script = `import { describeFailures } from ${module};
    console.log(JSON.stringify(describeFailures(${JSON.stringify(checks)}, ${JSON.stringify(failures)})));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return JSON.parse(stdout) as string[];
};

const check = (name: string, exitCode: number, output = '') => ({ name, exitCode, output });

it('names each failed test with the first lines of its message', () => {
  const failure = { file: 'packages/a/test/x.test.ts', title: 'x y', message: ['one', 'two'] };
  expect(describeRun([check('lint', 0)], [failure])).toEqual([
    '✗ packages/a/test/x.test.ts: x y',
    '    one',
    '    two',
  ]);
});

it("shows the end of a failed check's output, without colours", () => {
  const lines = describeRun(
    [check('lint', 2, `first\n${'line\n'.repeat(20)}\n\u001b[31mx.ts: error\u001b[39m\n\n`)],
    [],
  );
  expect(lines[0]).toBe('✗ lint (exit code 2), which ended with');
  expect(lines.at(-1)).toBe('    x.ts: error');
  expect(lines).toHaveLength(13);
});

it('lists at most fifty failures, and the number of further ones', () => {
  const failures = Array.from({ length: 60 }, (_, index) => ({ file: 'x', title: String(index), message: [] }));
  const lines = describeRun([check('format', 0)], failures);
  expect(lines).toHaveLength(51);
  expect(lines.at(-1)).toBe('✗ and 10 more, in the lines above');
});

it('prints nothing if nothing failed', () => {
  expect(describeRun([check('lint', 0), check('type check', 0)], [])).toEqual([]);
});
