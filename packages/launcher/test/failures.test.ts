import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'failures-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const file = (path: string, content: unknown): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), typeof content === 'string' ? content : JSON.stringify(content));
};

/** A task as turbo accounts for it. */
const task = (name: string, exitCode: number, directory = 'packages/a') => ({
  task: name,
  directory,
  logFile: `${directory}/.turbo/turbo-${name}.log`,
  execution: { exitCode },
});
const counts = (failures: unknown[]) => ({ passed: 1, failed: failures.length, skipped: 0, failures });

/** What the closing lines say after a run with these tasks. The module is plain JavaScript that runs before anything is installed. */
const describeRun = (tasks: unknown[]): string[] => {
  const module = JSON.stringify(pathToFileURL(join(__dirname, '../bootstrap/failures.mjs')).href);
  const script = `import { mkdirSync, writeFileSync } from 'node:fs';
    import { describeFailures, watchTasks } from ${module};
    const root = ${JSON.stringify(root)};
    const tasks = watchTasks(root);
    mkdirSync(root + '/.turbo/runs', { recursive: true });
    writeFileSync(root + '/.turbo/runs/new.json', ${JSON.stringify(JSON.stringify({ tasks }))});
    console.log(JSON.stringify(describeFailures(root, tasks())));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return JSON.parse(stdout) as string[];
};

it('names each failed test with the first lines of its message', () => {
  file(
    'packages/a/test-results/counts.json',
    counts([{ file: 'test/x.test.ts', title: 'x y', message: ['one', 'two'] }]),
  );
  expect(describeRun([task('test', 1), task('lint', 0)])).toEqual([
    '✗ packages/a/test/x.test.ts: x y',
    '    one',
    '    two',
  ]);
});

it('shows how the log of another task ends, without colours', () => {
  file('services/b/.turbo/turbo-lint.log', `first\n${'line\n'.repeat(10)}\n\u001b[31mx.ts: error\u001b[39m\n\n`);
  const lines = describeRun([task('lint', 2, 'services/b')]);
  expect(lines[0]).toBe('✗ services/b lint (exit code 2), which ended with');
  expect(lines.at(-1)).toBe('    x.ts: error');
  expect(lines).toHaveLength(13);
});

it('shows the log of tests that did not get so far as to be counted, or failed after all had passed', () => {
  file('packages/a/.turbo/turbo-test.log', 'The test servers did not start\n');
  file('packages/c/.turbo/turbo-test.log', 'out of memory\n');
  file('packages/c/test-results/counts.json', counts([]));
  const lines = describeRun([task('test', 1), task('test', 134, 'packages/c')]);
  expect(lines).toContain('    The test servers did not start');
  expect(lines).toContain('    out of memory');
});

it('says at most fifty, and how many more', () => {
  const failures = Array.from({ length: 60 }, (_, index) => ({ file: 'x', title: String(index), message: [] }));
  file('packages/a/test-results/counts.json', counts(failures));
  const lines = describeRun([task('test', 1)]);
  expect(lines).toHaveLength(51);
  expect(lines.at(-1)).toBe('✗ and 10 more, in the lines above');
});

it('is not misled by the account of an earlier run, and leaves none behind', () => {
  file('.turbo/runs/old.json', { tasks: [task('lint', 1)] });
  expect(describeRun([task('lint', 0)])).toEqual([]);
  expect(existsSync(join(root, '.turbo/runs/old.json'))).toBe(true);
  expect(existsSync(join(root, '.turbo/runs/new.json'))).toBe(false);
});
